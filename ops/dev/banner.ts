import type { DemoPayments } from './demo-payments.ts';
import type { ConsoleLinks } from './console-links.ts';
import type { DevFile } from './dev-file.ts';

/**
 * What `npm start` prints when everything runs: links into the console, payments to open in a browser, addresses, and the demo key. At most 20 lines of 100
 * columns, so that a terminal shows it whole; the rest is in dev.json and in the documentation.
 */
export function banner(dev: DevFile, payments: DemoPayments | undefined, links: ConsoleLinks): string {
  return `Owner     ${links.owner}
Operator  ${links.operator}
sluice  DEMO MODE  nothing here is real money; each link above opens the console once, by a passkey
${payments === undefined ? '' : invitation(payments)}
  API       ${dev.api.baseUrl}
  API key   ${dev.gateway.apiKey}
  Docs      ${dev.api.origin}/docs/quickstart   five minutes and no coins
  Operators ${dev.operatorUrl}
  Webhooks  ${dev.webhookReceiver.url}   received so far: ${dev.webhookReceiver.log}
  Networks  ${Object.keys(dev.networks).join(', ')}

  Keys, secrets, ports: .sluice/dev.json (or in SLUICE_DATA_DIR); logs are beside it.
  npx sluice lists commands; npm run demo tells the whole story unattended.
  Ctrl+C stops everything and keeps the data; npm start -- --reset begins anew.
`;
}

/** Links that a terminal makes clickable. */
function invitation({ onChain, sandbox }: DemoPayments): string {
  return `
  A payment to open in a browser; choose a coin there, then pay it from the faucet
    ${onChain.paymentUrl}
    npx sluice pay ${onChain.paymentUid}
  The same in the sandbox: buttons instead of coins
    ${sandbox.paymentUrl}
`;
}

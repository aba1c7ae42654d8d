import type { DemoPayments } from './demo-payments.ts';
import type { DevFile } from './dev-file.ts';
import { familyOf } from './families.ts';
import { usualAsset } from './scene.ts';
import { SHOP } from './shop-pages.ts';

/** What `npm start` prints when everything runs: payments to open in a browser, addresses, the demo key, and a payment and a cashout to paste. */
export function banner(dev: DevFile, payments: DemoPayments | undefined): string {
  const { gateway } = dev;
  const [first, ...others] = Object.keys(dev.networks).flatMap((network) => exampleOn(dev, network));
  const ways = others.map(({ symbol, network }) => `or ${symbol === first?.symbol ? `${symbol}@${network}` : symbol}`);
  const bodies = others.map(({ network, body }) => `\n   The same on ${network} with\n     BODY='${body}'`).join('');
  const indexers = Object.entries(dev.metrics.indexers).map(([name, url]) => `${name} ${url}`);
  const networks = Object.entries(dev.networks).map(
    // The rest of the URL of a hosted node may be a key; local nodes have none that is secret.
    ([name, { rpcUrl, chainId }]) =>
      `${name} ${dev.localNetworks.includes(name) ? rpcUrl : new URL(rpcUrl).origin}${chainId === undefined ? '' : ` (chain ${chainId})`}`,
  );
  return `
sluice  DEMO MODE  local chains, nothing here is real money

${payments === undefined ? '' : invitation(payments)}  API        ${dev.api.baseUrl}      Docs  ${dev.api.origin}/docs
  Checkout   ${dev.checkoutUrl}/p/{paymentUid}
  Operator   ${dev.operatorUrl}      token  ${dev.operatorToken}
  Metrics    ${dev.metrics.api}      ${indexers.join('  ')}
  Chains     ${networks.join('  ')}
  Webhooks   ${dev.webhookReceiver.url}      received so far  ${dev.webhookReceiver.log}
             (webhooks to this machine and private networks are allowed: development only; npx sluice listen shows and forwards them)

  Demo gateway "Acme Books"
    API key         ${gateway.apiKey}
    Cashout secret  ${gateway.cashoutSigningSecret}
    Webhook secret  ${gateway.webhookSecret}
    Authenticator   ${gateway.totpSecret}      a code now  npx sluice secret code

1  Create a payment of 10 US dollars
     curl -s ${dev.api.baseUrl}/payments -H 'X-Api-Key: ${gateway.apiKey}' -H 'Content-Type: application/json' \\
       -d '{"currencyCode":"USD","amount":"10","callbackUrl":"${new URL(SHOP.thanks, dev.webhookReceiver.url).href}","webhookUrl":"${dev.webhookReceiver.url}"}'
2  Open the paymentUrl of the answer, and pay it there or with its paymentUid (selects the offer and sends the coins from the faucet)
     npx sluice pay <paymentUid> --asset ${first?.symbol ?? ''}${ways.length === 0 ? '' : `        (${ways.join(', ')})`}
3  Watch the webhook arrive: a line appears below
4  Read the money
     curl -s -X POST ${dev.api.baseUrl}/payments/<paymentUid>/verify -H 'X-Api-Key: ${gateway.apiKey}'
5  Cash out ${first?.amount ?? ''} ${first?.symbol ?? ''} (signed by hand with openssl)
     BODY='${first?.body ?? ''}'; NOW=$(date +%s)
     SIGNATURE=$(printf '%s' "$NOW.$BODY" | openssl dgst -sha256 -hmac '${gateway.cashoutSigningSecret}' | sed 's/^.* //')
     curl -s ${dev.api.baseUrl}/merchant/settlements -H 'X-Api-Key: ${gateway.apiKey}' -H 'Content-Type: application/json' \\
       -H "X-Timestamp: $NOW" -H "X-Signature: $SIGNATURE" -H "Idempotency-Key: cashout-$NOW" -d "$BODY"${bodies}
   Its state, until SETTLED
     NOW=$(date +%s); SIGNATURE=$(printf '%s' "$NOW." | openssl dgst -sha256 -hmac '${gateway.cashoutSigningSecret}' | sed 's/^.* //')
     curl -s '${dev.api.baseUrl}/merchant/settlements?limit=1' -H 'X-Api-Key: ${gateway.apiKey}' -H "X-Timestamp: $NOW" -H "X-Signature: $SIGNATURE"
6  Try what stops a cashout: a cap above which a person approves, and parking of what is not there yet
     npx sluice gateway set ${gateway.id} cashout.approvalCapUsd=2 cashout.parkingEnabled=true
   Cash out again as in 5: PENDING_APPROVAL. Approve it with its id and a code
     ID=<id>; BODY='{"totpCode":"'$(npx sluice secret code)'"}'; NOW=$(date +%s)
     SIGNATURE=$(printf '%s' "$NOW.$BODY" | openssl dgst -sha256 -hmac '${gateway.cashoutSigningSecret}' | sed 's/^.* //')
     curl -s ${dev.api.baseUrl}/merchant/settlements/$ID/approve -H 'X-Api-Key: ${gateway.apiKey}' -H 'Content-Type: application/json' \\
       -H "X-Timestamp: $NOW" -H "X-Signature: $SIGNATURE" -H "Idempotency-Key: approve-$NOW" -d "$BODY"
   What the operator sees of it, with the fee locked and the fee paid
     npx sluice settlement show <id>

  npm run demo tells the whole story unattended. Logs are in .sluice/logs.
  Ctrl+C stops everything and keeps the data; npm start -- --reset begins anew.
`;
}

/** Links that a terminal makes clickable. */
function invitation({ onChain, sandbox }: DemoPayments): string {
  return `  Open a payment in a browser
    ${onChain.paymentUrl}
      choose a coin there, then pay it from the faucet:  npx sluice pay ${onChain.paymentUid}
    ${sandbox.paymentUrl}
      the same in the sandbox: buttons instead of coins

`;
}

/** A cashout on a network: some of its usual asset, to an address outside the deployment. */
function exampleOn(dev: DevFile, network: string): { symbol: string; network: string; amount: string; body: string }[] {
  const asset = usualAsset(dev.assets.filter((one) => one.network === network));
  if (asset === undefined) return [];
  const amount = asset.contract === null ? '0.0001' : '5';
  const { outsider } = familyOf(dev.networks[network]?.family ?? '');
  return [{ symbol: asset.symbol, network, amount, body: JSON.stringify({ assetId: asset.id, amount, address: outsider }) }];
}

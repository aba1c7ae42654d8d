import type { DevFile } from './dev-file.ts';
import { familyOf } from './families.ts';

/** What `npm start` prints when everything runs: addresses, the demo key, and a payment and a cashout to paste. */
export function banner(dev: DevFile): string {
  const { gateway } = dev;
  const [first, ...others] = dev.assets
    .filter((asset) => asset.symbol === 'USDT')
    .map((asset) => ({ ...asset, destination: destinationOn(dev, asset.network) }));
  const indexers = Object.entries(dev.metrics.indexers).map(([name, url]) => `${name} ${url}`);
  const networks = Object.entries(dev.networks).map(
    // The rest of the URL of a hosted node may be a key.
    ([name, network]) => `${name} ${new URL(network.rpcUrl).origin}${network.chainId === undefined ? '' : ` (chain ${network.chainId})`}`,
  );
  return `
sluice  DEMO MODE  local chains, nothing here is real money

  API        ${dev.api.baseUrl}      Docs  ${dev.api.origin}/docs
  Checkout   ${dev.checkoutUrl}
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
       -d '{"currencyCode":"USD","amount":"10","checkoutMode":"API","webhookUrl":"${dev.webhookReceiver.url}"}'
2  Pay it, with the paymentUid of the answer (selects the offer and sends the coins from the faucet)
     npx sluice pay <paymentUid> --asset USDT${others.map(({ network }) => `        (or USDT@${network})`).join('')}
3  Watch the webhook arrive: a line appears below
4  Read the money
     curl -s -X POST ${dev.api.baseUrl}/payments/<paymentUid>/verify -H 'X-Api-Key: ${gateway.apiKey}'
5  Cash out 5 USDT (signed by hand with openssl)${others.map(({ id, network, destination }) => `; on ${network} the assetId is ${id}, an address ${destination}`).join('')}
     BODY='{"assetId":"${first?.id ?? ''}","amount":"5","address":"${first?.destination ?? ''}"}'; NOW=$(date +%s)
     SIGNATURE=$(printf '%s' "$NOW.$BODY" | openssl dgst -sha256 -hmac '${gateway.cashoutSigningSecret}' | sed 's/^.* //')
     curl -s ${dev.api.baseUrl}/merchant/settlements -H 'X-Api-Key: ${gateway.apiKey}' -H 'Content-Type: application/json' \\
       -H "X-Timestamp: $NOW" -H "X-Signature: $SIGNATURE" -H "Idempotency-Key: cashout-$NOW" -d "$BODY"
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

/** An address outside the deployment that a cashout may go to. */
function destinationOn(dev: DevFile, network: string): string {
  return familyOf(dev.networks[network]?.family ?? '').outsider;
}

import type { LocalNetworks } from './local-networks.ts';

interface RpcTransaction {
  from: string;
  to: string | null;
  value: string;
  blockNumber: string | null;
}

/** The page behind a local chain's explorer link, `/explorer/<network>/tx/<hash>`; undefined for any other path. */
export async function explorerPage(local: LocalNetworks | undefined, path: string): Promise<string | undefined> {
  const match = /^\/explorer\/([a-z0-9-]+)\/tx\/(0x[0-9a-f]{64})$/.exec(path);
  const node = match && local?.chains.get(match[1] as string)?.node;
  if (!match || !node) return undefined;
  const [network, txid] = [match[1] as string, match[2] as string];
  const [transaction, receipt, height] = await Promise.all([
    node.call<RpcTransaction | null>('eth_getTransactionByHash', [txid]),
    node.receipt(txid),
    node.height(),
  ]);
  const facts: [string, string][] =
    transaction === null
      ? [['Status', 'unknown to this chain']]
      : [
          ['Status', receipt === null ? 'waiting' : receipt.status === '0x1' ? 'succeeded' : 'failed'],
          ['Block', receipt === null ? '-' : `${Number(receipt.blockNumber)} (${height - Number(receipt.blockNumber) + 1} confirmations)`],
          ['From', transaction.from],
          ['To', transaction.to ?? receipt?.contractAddress ?? '-'],
          ['Value', `${BigInt(transaction.value)} wei`],
        ];
  const rows = facts.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`).join('');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${txid}</title><h1>${network} (local chain)</h1><p><code>${txid}</code></p><table>${rows}</table></html>`;
}

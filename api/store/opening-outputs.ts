import type { UnspentOutput } from '#shared/chains/chain.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Those among outputs of a network that no sighting on the canonical chain tells of. Locks nothing. */
export async function listUnseen<One extends { txid: string; vout: number }>(reads: Reads, networkId: string, outputs: readonly One[]): Promise<One[]> {
  const seen = await reads<{ txid: string; vout: number }[]>`
    select g.txid, g.ordinal as vout from sightings g
    where g.network_id = ${networkId} and g.kind = 'native' and g.canonical and g.txid = any(${outputs.map((one) => one.txid)}::text[])`;
  const keys = new Set(seen.map(({ txid, vout }) => `${txid}:${vout}`));
  return outputs.filter(({ txid, vout }) => !keys.has(`${txid}:${vout}`));
}

/** Writes what a wallet held before it was watched, in the transaction that books its opening balance. */
export async function insertOpeningOutputs(
  tx: Tx,
  { networkId, walletId, outputs }: { networkId: string; walletId: string; outputs: readonly UnspentOutput[] },
): Promise<void> {
  await tx`
    insert into opening_outputs (network_id, txid, vout, wallet_id, address, raw_amount, height, coinbase)
    select ${networkId}, o.txid, o.vout, ${walletId}, o.address, o.raw_amount, o.height, o.coinbase
    from unnest(${outputs.map((one) => one.txid)}::text[], ${outputs.map((one) => one.vout)}::int[], ${outputs.map((one) => one.address)}::text[],
      ${outputs.map((one) => one.rawAmount.toString())}::text[]::numeric[], ${outputs.map((one) => one.height)}::bigint[],
      ${outputs.map((one) => String(one.coinbase))}::text[]::boolean[]) as o (txid, vout, address, raw_amount, height, coinbase)`;
}

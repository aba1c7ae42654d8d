import type { Deps, Reply } from '#api/deps.ts';
import { nativeAsset } from '#api/store/assets.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { consolidatePool, type PlannedJoin } from '#api/treasury/consolidate-pools.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import { POOLS } from '#state-machines/ledger/accounts.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readReason, readText } from './input.ts';

/**
 * POST /consolidations: joins small outputs of a network's pools now, whatever fees are (decision 0031); what the day's budget and the
 * fee ceiling leave out is said.
 * @throws validation_error naming network or pool; service_unavailable while no node answers
 */
export async function consolidateOutputs(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const network = readText(fields, 'network', 64);
  const reason = readReason(fields);
  const chain = deps.chains.get(network);
  if (chain === undefined) throw invalid('network', 'is not a network of this deployment');
  const wanted = fields.pool ?? null;
  const chosen = POOLS.filter((pool) => wanted === null || pool === wanted);
  if (chosen.length === 0) throw invalid('pool', 'must be green or held');
  const { decimals } = await nativeAsset(deps.db.sql, chain.id);
  const coins = (raw: bigint): string => formatAmount(fromUnits(raw, decimals));
  const shown = ({ payoutId, outputs, rawAmount, rawFee }: PlannedJoin) => ({ payoutId, outputs, amount: coins(rawAmount), fee: coins(rawFee) });
  // First, so that nothing is joined without a line about who asked for it.
  await deps.db.transaction((tx) =>
    insertOperatorAction(tx, deps.operator, { action: 'outputs.consolidate', target: network, reason, details: { pools: chosen } }),
  );
  const pools: { pool: string; transactions: ReturnType<typeof shown>[]; problem: string | null }[] = [];
  try {
    for (const pool of chosen) {
      const { planned, problem } = await consolidatePool(deps, chain, pool, { now: true });
      pools.push({ pool, transactions: planned.map(shown), problem });
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new ServiceError('service_unavailable', { cause: error, retryAfterSeconds: 5 });
  }
  return { status: 202, data: { pools } };
}

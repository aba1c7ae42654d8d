import type { Chain, Deps, Reply } from '#api/deps.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { insertRescan, listRescans } from '#api/store/rescans.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readInteger, readReason } from './input.ts';

/** GET /networks/{network}/rescans: the latest, with how far each is. */
export async function showRescans(deps: Deps, call: OperatorCall): Promise<Reply> {
  return { status: 200, data: { items: await listRescans(deps.db.sql, chainOf(deps, call).id) } };
}

/**
 * POST /networks/{network}/rescan: has final blocks read again, and books what was missed in them, once; the indexer does it beside
 * following the chain (operability 3). Addresses that are watched no more are not looked for.
 * @throws not_found; validation_error naming from or to
 */
export async function rescanNetwork(deps: Deps, call: OperatorCall): Promise<Reply> {
  const chain = chainOf(deps, call);
  const fields = fieldsOf(call.body);
  const from = readInteger(fields, 'from', 0, Number.MAX_SAFE_INTEGER);
  const to = readInteger(fields, 'to', 0, Number.MAX_SAFE_INTEGER);
  if (to < from) throw invalid('to', 'must not be below from');
  const tip = await readTip(deps.db.sql, chain.id);
  if (tip === undefined || to > tip.finalHeight)
    throw invalid('to', `must be a final block: ${tip === undefined ? 'none is yet' : `the last is ${tip.finalHeight}`}`);
  const reason = readReason(fields) ?? null;
  const rescan = await deps.db.transaction(async (tx) => {
    const asked = await insertRescan(tx, { id: uuidFrom(deps.randomBytes(16)), networkId: chain.id, from, to, reason });
    await insertOperatorAction(tx, deps.operator, {
      action: 'network.rescan',
      target: chain.config.name,
      reason: reason ?? undefined,
      details: { from, to, id: asked.id },
    });
    return asked;
  });
  deps.nudgeIndexer(chain.config.name);
  return { status: 202, data: { rescan } };
}

function chainOf(deps: Deps, call: OperatorCall): Chain {
  const chain = deps.chains.get(call.params.network ?? '');
  if (chain === undefined) throw new ServiceError('not_found');
  return chain;
}

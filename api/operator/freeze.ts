import type { Deps, Reply } from '#api/deps.ts';
import { countUnexplained, listHaltedWallets } from '#api/store/adopted.ts';
import { findAsset } from '#api/store/assets.ts';
import { deleteFreeze, insertFreeze, listFreezes } from '#api/store/freezes.ts';
import { listUntrusted } from '#api/store/database-epoch.ts';
import { findNetwork } from '#api/store/networks.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { acceptShortages } from '#api/store/reconciliations.ts';
import { invalid } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readReason, readText } from './input.ts';
import { signerReport } from './signer-journal.ts';

/** GET /freezes: all that keeps cashouts from being sent, whoever stopped them. */
export async function showFreezes(deps: Deps): Promise<Reply> {
  return freezes(deps);
}

/** POST /freeze: nothing of the scope is dispatched any more, everything unless a network or an asset is named. */
export async function freeze(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const scope = await readScope(deps, fields);
  const reason = readReason(fields) ?? 'frozen by an operator';
  await deps.db.transaction(async (tx) => {
    await insertFreeze(tx, { scope, reason });
    await insertOperatorAction(tx, deps.operator, { action: 'dispatch.freeze', target: scope, reason });
  });
  return freezes(deps);
}

/**
 * POST /unfreeze: lifts the freeze of one scope, `all` when none is named; what was frozen by its own name stays frozen. Lifting what is not frozen changes nothing. What
 * the audit froze it freezes again while it still finds it (reliability D24); with `force` and a reason, coins that are
 * missing are accepted as lost, and only more of them freeze again.
 * @throws validation_error naming scope, force or reason
 */
export async function unfreeze(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const scope = await readScope(deps, fields);
  const reason = readReason(fields);
  const forced = fields.force ?? false;
  if (typeof forced !== 'boolean') throw invalid('force', 'must be true or false');
  if (forced && reason === undefined) throw invalid('reason', 'is required with force');
  await deps.db.transaction(async (tx) => {
    const was = await deleteFreeze(tx, scope);
    // Its row is gone: this line is all that says why nothing was sent, and since when.
    const lifted = was === undefined ? null : { reason: was.reason, frozenAt: was.frozenAt.toISOString() };
    const accepted = forced ? await acceptShortages(tx, scope) : [];
    await insertOperatorAction(tx, deps.operator, { action: 'dispatch.unfreeze', target: scope, reason, details: { lifted, forced, accepted } });
  });
  deps.wake();
  return freezes(deps);
}

async function freezes(deps: Deps): Promise<Reply> {
  const { sql } = deps.db;
  const [frozen, halted, unknown, awaiting, signerJournal] = await Promise.all([
    listFreezes(sql),
    listHaltedWallets(sql),
    countUnexplained(sql),
    listUntrusted(sql, [...deps.chains.keys()]),
    signerReport(sql),
  ]);
  const haltedWallets = halted.map(({ id: _, ...one }) => ({ ...one, clearable: one.unexplained.length === 0 }));
  return {
    status: 200,
    data: { freezes: frozen, haltedWallets, unknownTransactions: unknown, awaitingComparison: awaiting.length > 0, awaitingNetworks: awaiting, signerJournal },
  };
}

async function readScope(deps: Deps, fields: Record<string, unknown>): Promise<string> {
  if (fields.scope === undefined || fields.scope === null) return 'all';
  const scope = readText(fields, 'scope');
  const [kind, name = ''] = scope.split(':', 2);
  if (scope === 'all') return scope;
  if (kind === 'network' && scope === `network:${name}` && (await findNetwork(deps.db.sql, name)) !== undefined) return scope;
  if (kind === 'asset' && scope === `asset:${name}` && isUuid(name) && (await findAsset(deps.db.sql, name)) !== undefined) return scope.toLowerCase();
  throw invalid('scope', 'must be all, network:<name> or asset:<id> of this deployment');
}

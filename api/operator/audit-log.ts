import type { Deps, Reply } from '#api/deps.ts';
import { listOperatorActions, walkOperatorActions } from '#api/store/proposals.ts';
import type { OperatorCall } from './deps.ts';
import { readPage, readTextFilter } from './input.ts';
import { countedReply, readWalk, walkReply } from './read-walk.ts';

/** GET /audit-log: what operators did, newest first, such as `?action=gateway.change` or `?target=<id>`. @throws validation_error naming what cannot be read */
export async function showAuditLog(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { sql } = deps.db;
  const action = readTextFilter(call.query, 'action') ?? null;
  const target = readTextFilter(call.query, 'target') ?? null;
  const asked = readWalk(deps, call.query, { places: (id) => /^[1-9]\d{0,17}$/.test(id) });
  if (asked === undefined) {
    const page = readPage(call.query);
    const { items, total } = await listOperatorActions(sql, { action, target, limit: page.limit, offset: page.offset });
    return countedReply(items, total, page);
  }
  const { sought, ...walk } = asked;
  const { rows, lastLooked } = await walkOperatorActions(sql, { ...walk, action, target }, sought?.text ?? null);
  return walkReply(rows, walk, lastLooked);
}

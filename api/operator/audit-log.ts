import type { Deps, Reply } from '#api/deps.ts';
import { listOperatorActions } from '#api/store/proposals.ts';
import type { OperatorCall } from './deps.ts';
import { listReply, readPage, readTextFilter } from './input.ts';

/** GET /audit-log: what operators did, newest first, such as `?action=gateway.change` or `?target=<id>`. */
export async function showAuditLog(deps: Deps, call: OperatorCall): Promise<Reply> {
  const page = readPage(call.query);
  const action = readTextFilter(call.query, 'action') ?? null;
  const target = readTextFilter(call.query, 'target') ?? null;
  const { items, total } = await listOperatorActions(deps.db.sql, { action, target, limit: page.limit, offset: page.offset });
  return listReply(items, total, page);
}

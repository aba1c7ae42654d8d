import type { Deps, Reply } from '#api/deps.ts';
import { rejectSettlement as reject } from '#api/settlements/reject.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readText } from './input.ts';
import { showSettlement } from './timelines.ts';

const MAX_REASON = 500;

/** POST /settlements/{id}/reject: ends a claimed cashout and gives its claim back; answers it as it is then, with its history. */
export async function rejectSettlement(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  await reject(deps, { id, reason: readText(fieldsOf(call.body), 'reason', MAX_REASON) });
  return showSettlement(deps, call);
}

import type { Tx } from '#shared/platform/postgres.ts';

/** One change an operator made; `details` never holds a secret. */
export interface OperatorAction {
  /** noun.verb, such as `gateway.create`. */
  action: string;
  /** Id or name of what it was done to. */
  target: string;
  reason?: string | undefined;
  details?: Record<string, unknown>;
}

/** Appends one line to the operator's audit log, in the transaction of the change itself; locks nothing. */
export async function insertOperatorAction(tx: Tx, action: OperatorAction): Promise<void> {
  await tx`
    insert into operator_actions (action, target, reason, details)
    values (${action.action}, ${action.target}, ${action.reason ?? null}, ${tx.json((action.details ?? {}) as Parameters<Tx['json']>[0])})`;
}

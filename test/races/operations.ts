import { totpCode } from '#test/harness/totp-code.ts';
import { activateById } from '#api/settlements/activate-parked.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { expireById } from '#api/settlements/expire-parked.ts';
import { rejectSettlement } from '#api/settlements/reject.ts';
import { retrySettlement } from '#api/settlements/retry.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import type { Arena, Contested } from './arena.ts';

/** Something that can be done to a cashout, as the steps that are each one decision in the database. */
export interface Operation {
  name: string;
  /** Each answers what its caller is told. */
  steps: readonly ((arena: Arena, contested: Contested) => Promise<string>)[];
}

const answerOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof ServiceError) return error.code;
      throw error;
    },
  );

/** All operations that change a cashout after its creation (reliability I23). */
export const OPERATIONS: readonly Operation[] = [
  {
    name: 'approve',
    steps: [
      ({ deps }, { id, gateway, totpSecret }) => answerOf(approveSettlement(deps, { gateway, id, totpCode: totpCode(totpSecret), commit: plainCommit(deps) })),
    ],
  },
  { name: 'retry', steps: [({ deps }, { id, gateway }) => answerOf(retrySettlement(deps, { gateway, id, commit: plainCommit(deps) }))] },
  { name: 'cancel', steps: [({ deps }, { id, gateway }) => answerOf(cancelSettlement(deps, { gateway, id, commit: plainCommit(deps) }))] },
  { name: 'activate', steps: [async ({ deps }, { id }) => String(await activateById(deps, id))] },
  { name: 'expire', steps: [async ({ deps }, { id }) => String(await expireById(deps, id))] },
  { name: 'reject', steps: [({ deps }, { id }) => answerOf(rejectSettlement(deps, { id, reason: 'a race' }))] },
  // Planning and signing are two decisions, made by two processes.
  { name: 'dispatch', steps: [plan, sign] },
];

async function plan({ deps }: Arena, { id }: Contested): Promise<string> {
  await dispatchSettlement(deps, id);
  return 'looked';
}

async function sign({ deps, signers }: Arena, { id }: Contested): Promise<string> {
  const payouts = await deps.db.sql<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`;
  for (const payout of payouts) await signPayout(deps, signers, payout.id);
  return 'looked';
}

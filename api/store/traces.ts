import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { currentTraceparent, isTracing, traceIdOf } from '#shared/platform/tracing.ts';
import { isOneOf } from './is-one-of.ts';

/** Remembers the current trace, if there is one, as that of a settlement or a payout which was just added. */
export async function noteTrace(tx: Tx, subjectId: string): Promise<void> {
  await noteTraces(tx, [{ subjectId, traceparent: currentTraceparent() }]);
}

/** Remembers the traces, where there are any, of what was just added. */
export async function noteTraces(tx: Tx, added: readonly { subjectId: string; traceparent: string | undefined }[]): Promise<void> {
  const rows = added.flatMap(({ subjectId, traceparent }) => (traceparent === undefined ? [] : [{ subjectId, traceparent }]));
  if (rows.length > 0)
    await tx`
      insert into trace_contexts (subject_id, trace_context)
      select * from unnest(${rows.map((row) => row.subjectId)}::uuid[], ${rows.map((row) => row.traceparent)}::text[])`;
}

/** The trace in which a payment's deposits are booked: that of the reading that found its first open one, or else its own. Locks nothing. */
export async function traceOfPayment(sql: Reads, paymentId: string): Promise<string | null> {
  if (!isTracing()) return null;
  const [row] = await sql<{ trace: string | null }[]>`
    select coalesce(d.trace_context, t.trace_context) as trace from payments p left join trace_contexts t on t.subject_id = p.id
      left join deposits d on d.payment_id = p.id and d.state = 'seen'
    where p.id = ${paymentId} order by d.height nulls last, d.position limit 1`;
  return row?.trace ?? null;
}

/** The trace of what planned a payout; locks nothing. */
export async function traceOfPayout(sql: Reads, payoutId: string): Promise<string | null> {
  if (!isTracing()) return null;
  const [row] = await sql<{ trace: string | null }[]>`select trace_context as trace from trace_contexts where subject_id = ${payoutId}`;
  return row?.trace ?? null;
}

/** Remembers the current trace as the one in which these deposits were found, if it is that of their payment. Locks the rows. */
export async function noteDepositTraces(tx: Tx, depositIds: readonly string[]): Promise<void> {
  const current = currentTraceparent();
  if (current === undefined || depositIds.length === 0) return;
  await tx`
    update deposits d set trace_context = ${current} from trace_contexts t
    where d.id ${isOneOf(tx, depositIds)} and t.subject_id = d.payment_id and split_part(t.trace_context, '-', 2) = ${traceIdOf(current)}`;
}

import type { Deps } from '#api/deps.ts';
import { advance, advanceAll } from '#api/store/advance.ts';
import { findPayment, lockExpirable, lockPayment, paymentFromRow, readExpiryFacts } from '#api/store/payments.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { isPassing } from '#shared/platform/database-problems.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_PAYMENT_FACTS } from '#state-machines/payment/machine.ts';
import { enqueuePaymentWebhook, enqueuePaymentWebhooks } from './enqueue-webhook.ts';
import { loadPublicPayment } from './load.ts';
import { statusView } from './view.ts';

/**
 * Expires a payment that is overdue and unpaid, and returns its status-only object. A payment in any other state is returned unchanged, so the call
 * may be repeated (contract 4.2, decisions 4). Locks the payment.
 * @throws not_found, forbidden
 */
export async function expirePayment(deps: Deps, call: { paymentId: string; clientIp: string }): Promise<object> {
  const { id, status } = await loadPublicPayment(deps, call);
  if (status === 'PENDING') {
    const expired = await deps.db.transaction(async (tx) => {
      await lockPayment(tx, id);
      const facts = await readExpiryFacts(tx, id, POLICY.expiryPatienceSeconds);
      return expire(tx, deps, id, facts, 'payer');
    });
    if (expired) {
      deps.wake();
      deps.announce([id]);
    }
  }
  const payment = await findPayment(deps.db.sql, id);
  if (payment === undefined) throw new Invariant(`payment ${id} is gone`);
  return statusView(payment);
}

const BATCH = 500;

/**
 * Expires every payment whose deadline has passed by service time, in batches, each exactly once; returns how many (decisions 4). Those of a batch that fails are
 * tried one by one, so that a payment that cannot be expired keeps no other from it.
 * @throws what the first of those that could not be expired failed of, once the others are
 */
export async function expireDuePayments(deps: Deps): Promise<number> {
  let total = 0;
  let alone = 0;
  const failed = new Map<string, unknown>();
  for (let goesOn = true; goesOn; ) {
    const limit = alone > 0 ? 1 : BATCH;
    alone = Math.max(0, alone - 1);
    const taken: string[] = [];
    let ids: string[];
    try {
      ids = await deps.db.transaction((tx) => expireBatch(tx, deps, { limit, except: [...failed.keys()], taken }));
    } catch (error) {
      const [paymentId] = taken;
      if (paymentId === undefined || isPassing(error)) throw error;
      if (taken.length > 1) alone = taken.length;
      else {
        deps.log.error({ err: error, paymentId }, 'a payment cannot be expired; it will be tried again');
        failed.set(paymentId, error);
      }
      continue;
    }
    goesOn = ids.length > 0 && taken.length === limit;
    if (ids.length === 0) break;
    crashPoint('expiry.committed');
    deps.announce(ids);
    total += ids.length;
  }
  if (total > 0) deps.wake();
  for (const error of failed.values()) throw error;
  return total;
}

/** Expires up to `limit` payments, and adds the ids of those it tried to `taken`, also where it fails. */
async function expireBatch(tx: Tx, deps: Deps, { limit, except, taken }: { limit: number; except: readonly string[]; taken: string[] }): Promise<string[]> {
  const locked = await lockExpirable(tx, { limit, except, patienceSeconds: POLICY.expiryPatienceSeconds });
  taken.splice(0, taken.length, ...locked.map(({ id }) => id));
  if (locked.length > 0) crashPoint('expiry.taken');
  const moved = await advanceAll(tx, 'payment', {
    facts: new Map(locked.map(({ id, overdue, unpaid }) => [id, { ...NO_PAYMENT_FACTS, overdue, unpaid }])),
    event: 'DEADLINE_PASSED',
    actor: 'sweeper',
    columns: { resolved_at: tx`sluice_now()` },
    record: ({ overdue, unpaid }) => ({ overdue, unpaid }),
    effects: {
      notify: ({ to, rows }) => {
        const webhooks = rows.map(paymentFromRow).map(({ id: paymentId, gatewayId, webhookUrl }) => ({ paymentId, gatewayId, status: to, webhookUrl }));
        return enqueuePaymentWebhooks(tx, deps, webhooks);
      },
    },
  });
  const expired = moved.flatMap(({ rows }) => rows.map(paymentFromRow));
  for (const { status, sandbox } of expired) deps.metrics?.paymentsResolved.inc({ status, deposit_path: 'none', sandbox: String(sandbox) });
  return expired.map(({ id }) => id);
}

/**
 * Moves a sandbox payment's deadline to now and expires it, for a scenario that plays after the deadline.
 * The caller holds the payment's lock, knows that no deposit is on its way to it, and calls `deps.wake()` after the commit.
 * @throws conflict when it is not PENDING
 */
export async function expireNow(tx: Tx, deps: Deps, id: string, scenario: string): Promise<void> {
  const moved = { columns: { expires_at: tx`least(expires_at, sluice_now())` }, record: { scenario } };
  if (!(await expire(tx, deps, id, { overdue: true, unpaid: true }, 'sandbox', moved)))
    throw new ServiceError('conflict', { message: 'The payment is no longer PENDING.' });
}

/** Reports the deadline to the payment's machine, and announces the new status if the machine accepts it; returns whether it does. */
async function expire(
  tx: Tx,
  deps: Deps,
  id: string,
  facts: { overdue: boolean; unpaid: boolean },
  actor: string,
  more: { columns?: Record<string, unknown>; record?: Record<string, unknown> } = {},
): Promise<boolean> {
  const result = await advance(tx, 'payment', {
    id,
    event: 'DEADLINE_PASSED',
    actor,
    facts: () => ({
      facts: { ...NO_PAYMENT_FACTS, ...facts },
      columns: { resolved_at: tx`sluice_now()`, ...more.columns },
      record: { ...facts, ...more.record },
    }),
    effects: {
      notify: ({ to, row }) => {
        const { gatewayId, webhookUrl } = paymentFromRow(row);
        return enqueuePaymentWebhook(tx, deps, { paymentId: id, gatewayId, status: to, webhookUrl });
      },
    },
    orConflict: () => null,
  });
  if (result === null) return false;
  const { sandbox } = paymentFromRow(result.row);
  deps.metrics?.paymentsResolved.inc({ status: result.to, deposit_path: 'none', sandbox: String(sandbox) });
  return true;
}

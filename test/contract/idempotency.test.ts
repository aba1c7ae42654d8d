import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps, Reply } from '#api/deps.ts';
import { committer, fingerprint, type Keyed } from '#api/http/idempotency.ts';
import { deleteOldReplies } from '#api/store/idempotency.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { inProcess, type InProcess } from '#test/harness/in-process.ts';

let world: InProcess;
let deps: Deps;
let gatewayId: string;
beforeAll(async () => {
  world = await inProcess();
  deps = world.deps;
  gatewayId = (await world.aGateway()).id;
});
afterAll(() => world.stop());

const keyed = (body = '{}', key: string = randomUUID()): Keyed => ({
  scope: { gatewayId, operation: 'createSettlement', key },
  fingerprint: fingerprint('POST', '/x', Buffer.from(body)),
});
const effects: string[] = [];
const effect =
  (name: string, status = 200) =>
  async (_tx: Tx): Promise<Reply> => {
    effects.push(name);
    return { status, data: { name }, resourceId: randomUUID() };
  };

describe('a key and its effect', () => {
  it('commit together: a failure after the effect leaves neither', async () => {
    const request = keyed();
    const failing = committer(deps, request).commit(async (tx) => {
      await tx`update currencies set active = false where code = 'USD'`;
      throw new Error('after the effect');
    });
    await expect(failing).rejects.toThrow('after the effect');
    expect(await sharedReads(deps.db).storedReply(request.scope)).toBeUndefined();
    expect(await world.database.sql`select active from currencies where code = 'USD'`).toEqual([{ active: true }]);
  });

  it('are not stored for anything but a success', async () => {
    const request = keyed();
    await expect(committer(deps, request).commit(effect('teapot', 418))).rejects.toThrow('only a success');
    expect(await sharedReads(deps.db).storedReply(request.scope)).toBeUndefined();
  });

  it('are replayed to a duplicate that was waiting for the first to commit', async () => {
    const request = keyed();
    const first = await held(request, 'first');
    const second = committer(deps, request);
    const duplicate = second.commit(effect('second'));
    await lockIsWaitedFor();
    first.release();
    expect((await first.reply).data).toEqual({ name: 'first' });
    expect((await duplicate).data).toEqual({ name: 'first' });
    expect(second.replayed()?.body).toBe('{"success":true,"data":{"name":"first"}}');
    expect(effects).not.toContain('second');
  });

  it('let a duplicate do the work when the first one failed', async () => {
    const request = keyed();
    let duplicate: Promise<Reply> | undefined;
    const failing = committer(deps, request).commit(async () => {
      duplicate = committer(deps, request).commit(effect('second try'));
      await lockIsWaitedFor();
      throw new Error('the first fails');
    });
    await expect(failing).rejects.toThrow('the first fails');
    expect((await duplicate)?.data).toEqual({ name: 'second try' });
  });

  it('keep a duplicate waiting 10 seconds at most, then 409 conflict (decisions 8)', async () => {
    const request = keyed();
    const stuck = await held(request, 'stuck');
    const started = performance.now();
    await expect(committer(deps, request).commit(effect('impatient'))).rejects.toMatchObject({ code: 'conflict' });
    expect(performance.now() - started).toBeGreaterThan(9_500);
    stuck.release();
    await stuck.reply;
  }, 30_000);

  it('refuse the same key with another request, in flight or done', async () => {
    const key = randomUUID();
    await committer(deps, keyed('{"amount":"1"}', key)).commit(effect('one'));
    await expect(committer(deps, keyed('{"amount":"2"}', key)).commit(effect('two'))).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });
});

describe('a link that breaks while COMMIT is answered', () => {
  it('is answered by what the key says: the effect happened, and happened once (reliability D5)', async () => {
    const request = keyed();
    const cut: Deps = {
      ...deps,
      db: {
        ...deps.db,
        transaction: async (work) => {
          await deps.db.transaction(work);
          throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
        },
      },
    };
    const reply = await committer(cut, request).commit(effect('committed anyway'));
    expect(reply).toMatchObject({ status: 200, data: { name: 'committed anyway' } });
    expect(effects.filter((name) => name === 'committed anyway')).toHaveLength(1);
  });
});

describe('old keys', () => {
  it('are forgotten after 90 days and not a day sooner', async () => {
    const [old, kept] = [keyed(), keyed()];
    for (const request of [old, kept]) await committer(deps, request).commit(effect('kept'));
    await world.database.sql`update idempotency_keys set created_at = now() - interval '91 days' where key = ${old.scope.key}`;
    await world.database.sql`update idempotency_keys set created_at = now() - interval '89 days' where key = ${kept.scope.key}`;
    expect(await deleteOldReplies(deps.db.sql, 100)).toBe(1);
    expect(await sharedReads(deps.db).storedReply(kept.scope)).toBeDefined();
  });
});

/** A call that has its key and stays inside its transaction until it is released. */
async function held(request: Keyed, name: string): Promise<{ release(): void; reply: Promise<Reply> }> {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const calls: { reply?: Promise<Reply> } = {};
  await new Promise<void>((inside) => {
    calls.reply = committer(deps, request).commit(async (tx) => {
      inside();
      await gate;
      return effect(name)(tx);
    });
  });
  return { release, reply: calls.reply as Promise<Reply> };
}

/** Resolves once some transaction of this database waits for a lock. */
async function lockIsWaitedFor(): Promise<void> {
  for (;;) {
    const rows = await world.database.sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if (rows.length > 0) return;
  }
}

import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { type Live, openLive, type Pace } from '#api/checkout/live.ts';
import type { News } from '#api/checkout/news.ts';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';

const log = pino({ level: 'silent' });
/** So long that nothing is read again by itself while a test runs. */
const NEVER = 3_600_000;
const QUIET: Pace = { open: NEVER, resting: NEVER, deaf: NEVER, tick: 2 };
const { snapshot: scene } = checkoutScene('pay');

/** A database of payments that the test changes, and the news of them. */
function aStreet(pace: Partial<Pace> = {}) {
  const payments = new Map<string, Snapshot>();
  const reads: string[] = [];
  const state = { deaf: false, away: false };
  let ticks = 0;
  let heard: (news: News) => void = () => undefined;
  let resumed: () => void = () => undefined;
  const live = openLive({
    log,
    pace: { ...QUIET, ...pace },
    news: {
      listen(onNews, onResumed) {
        [heard, resumed] = [onNews, onResumed];
        return () => {
          heard = () => undefined;
        };
      },
      deaf: () => state.deaf,
    },
    async read(id) {
      reads.push(id);
      const snapshot = payments.get(id);
      if (state.away || snapshot === undefined) throw new Error('not there');
      ticks += 1;
      return { ...snapshot, serverTime: new Date(Date.parse(snapshot.serverTime) + ticks).toISOString() };
    },
  });
  const put = (payment: Partial<Snapshot['payment']> = {}, more: Partial<Snapshot> = {}, id: string = randomUUID()): string => {
    payments.set(id, { ...scene, ...more, payment: { ...scene.payment, ...payment, id } });
    return id;
  };
  lives.push(live);
  return { live, payments, reads, state, put, hear: (news: News) => heard(news), resume: () => resumed() };
}

/** Follows a payment and keeps what it is shown. */
async function watch(live: Live, id: string) {
  const shown: Snapshot[] = [];
  const following = await live.follow(id, (snapshot) => shown.push(snapshot));
  const statuses = (): string[] => shown.map((snapshot) => snapshot.payment.status);
  return { ...following, shown, statuses };
}

const lives: Live[] = [];
afterEach(() => {
  for (const live of lives.splice(0)) live.stop();
});

describe('who follows a payment', () => {
  it('gets it as it is, and each change of it once', async () => {
    const { live, put, hear } = aStreet();
    const id = put();
    const page = await watch(live, id);
    expect(page.snapshot.payment.status).toBe('PENDING');
    put({ status: 'SUCCESS' }, {}, id);
    hear({ paymentIds: [id] });
    await waitFor(() => page.statuses().includes('SUCCESS'), { what: 'the result' });
    for (let times = 0; times < 5; times++) await live.refresh(id);
    expect(page.statuses()).toEqual(['PENDING', 'SUCCESS']);
  });

  it('is told by whoever looks first: a page that joins brings everybody up to date', async () => {
    const { live, put } = aStreet();
    const id = put();
    const page = await watch(live, id);
    put({ status: 'EXPIRED' }, {}, id);
    expect((await watch(live, id)).snapshot.payment.status).toBe('EXPIRED');
    expect(page.statuses()).toEqual(['PENDING', 'EXPIRED']);
  });

  it('is shown the truth also by a clock that was set back', async () => {
    const { live, put } = aStreet();
    const id = put();
    const page = await watch(live, id);
    put({ status: 'SUCCESS' }, { serverTime: new Date(Date.parse(scene.serverTime) - 60_000).toISOString() }, id);
    await live.refresh(id);
    expect(page.statuses()).toEqual(['PENDING', 'SUCCESS']);
    expect(page.serverTime() < scene.serverTime).toBe(true);
  });

  it('knows the service time in between', async () => {
    const { live, put } = aStreet();
    const page = await watch(live, put());
    const behind = Date.parse(page.serverTime()) - Date.parse(page.snapshot.serverTime);
    expect(behind).toBeGreaterThanOrEqual(0);
    expect(behind).toBeLessThan(5_000);
  });

  it('is told when there is no such payment, and leaves nothing behind', async () => {
    const { live, put, hear, reads } = aStreet();
    const [id, other] = [randomUUID(), put()];
    await expect(live.follow(id, () => undefined)).rejects.toThrow('not there');
    hear({ paymentIds: [id] });
    await live.refresh(other);
    expect(reads).toEqual([id, other]);
  });

  it('hears nothing more once it left, and costs nothing', async () => {
    const { live, put, hear, reads } = aStreet();
    const id = put();
    const [page, other] = [await watch(live, id), await watch(live, id)];
    page.unfollow();
    put({ status: 'SUCCESS' }, {}, id);
    hear({ paymentIds: [id] });
    await waitFor(() => other.statuses().includes('SUCCESS'), { what: 'the result' });
    expect(page.statuses()).toEqual(['PENDING']);
    other.unfollow();
    const before = reads.length;
    hear({ paymentIds: [id] });
    const elsewhere = put();
    await live.refresh(elsewhere);
    expect(reads.slice(before)).toEqual([elsewhere]);
  });
});

describe('news', () => {
  it('of payments nobody follows here costs no read', async () => {
    const { live, put, hear, reads } = aStreet();
    const id = put();
    await watch(live, id);
    hear({ paymentIds: Array.from({ length: 100 }, () => put()) });
    await live.refresh(id);
    expect(new Set(reads)).toEqual(new Set([id]));
  });

  it('of a network is news of whoever waits for its blocks only', async () => {
    const { live, put, hear, reads } = aStreet();
    const pendingDeposit = { assetSymbol: 'ETH', network: 'base', amount: '1', confirmations: 1, required: 3, txHash: 'x', explorerTxUrl: '', inTime: true };
    const [idle, waiting] = [put(), put({}, { pendingDeposit })];
    await watch(live, idle);
    const page = await watch(live, waiting);
    put({}, { pendingDeposit: { ...pendingDeposit, confirmations: 2 } }, waiting);
    hear({ paymentIds: [], network: 'base' });
    await waitFor(() => page.shown.at(-1)?.pendingDeposit?.confirmations === 2, { what: 'another confirmation' });
    hear({ paymentIds: [], network: 'tron' });
    expect(reads.filter((id) => id === idle)).toHaveLength(1);
  });

  it('in any number becomes few reads', async () => {
    const { live, put, hear, reads } = aStreet();
    const id = put();
    const page = await watch(live, id);
    for (let times = 0; times < 1_000; times++) hear({ paymentIds: [id] });
    put({ status: 'SUCCESS' }, {}, id);
    hear({ paymentIds: [id] });
    await waitFor(() => page.statuses().includes('SUCCESS'), { what: 'the result' });
    expect(reads.length).toBeLessThan(6);
  });
});

describe('without any news', () => {
  it('a followed payment is read now and then', async () => {
    const { live, put } = aStreet({ open: 10 });
    const id = put();
    const page = await watch(live, id);
    put({ status: 'SUCCESS' }, {}, id);
    await waitFor(() => page.statuses().includes('SUCCESS'), { what: 'the result' });
  });

  it('it is read more often while none can arrive', async () => {
    const { live, put, state } = aStreet({ deaf: 10 });
    const id = put();
    const page = await watch(live, id);
    put({ status: 'SUCCESS' }, {}, id);
    state.deaf = true;
    await waitFor(() => page.statuses().includes('SUCCESS'), { what: 'the result' });
  });

  it('everything is read as soon as news arrives again', async () => {
    const { live, put, resume } = aStreet();
    const ids = Array.from({ length: 50 }, () => put());
    const pages = await Promise.all(ids.map((id) => watch(live, id)));
    for (const id of ids) put({ status: 'SUCCESS' }, {}, id);
    resume();
    await waitFor(() => pages.every((page) => page.statuses().includes('SUCCESS')), { what: 'all results' });
  });

  it.each(['when news arrives again', 'at a new block'])('a page with news of its own waits for none of the many that are looked at %s', async (when) => {
    const { live, put, reads, resume, hear } = aStreet();
    const pendingDeposit = { assetSymbol: 'ETH', network: 'base', amount: '1', confirmations: 1, required: 3, txHash: 'x', explorerTxUrl: '', inTime: true };
    const ids = Array.from({ length: 200 }, () => put({}, { pendingDeposit }));
    await Promise.all(ids.map((id) => watch(live, id)));
    const last = ids.at(-1) ?? '';
    const urgent = await watch(live, last);
    put({ status: 'SUCCESS' }, {}, last);
    const before = reads.length;
    if (when === 'at a new block') hear({ paymentIds: [], network: 'base' });
    else resume();
    hear({ paymentIds: [last] });
    await waitFor(() => urgent.statuses().includes('SUCCESS'), { what: 'the result', everyMs: 1 });
    expect(reads.slice(before).indexOf(last)).toBeLessThan(20);
    await waitFor(() => new Set(reads.slice(before)).size === ids.length, { what: 'everybody to be looked at' });
  });

  it('a deadline is looked at when it passes', async () => {
    const { live, put } = aStreet();
    const id = put({ expiresAt: new Date(Date.parse(scene.serverTime) + 60).toISOString() });
    const page = await watch(live, id);
    put({ status: 'EXPIRED' }, {}, id);
    await waitFor(() => page.statuses().includes('EXPIRED'), { what: 'the expiry' });
  });
});

it('a database that is away is asked again until it answers, and nobody is shown anything wrong', async () => {
  const { live, put, hear, state, reads } = aStreet({ deaf: 10 });
  const id = put();
  const page = await watch(live, id);
  state.away = true;
  put({ status: 'SUCCESS' }, {}, id);
  hear({ paymentIds: [id] });
  await waitFor(() => reads.length > 3, { what: 'several attempts' });
  await expect(live.refresh(id)).rejects.toThrow();
  expect(page.statuses()).toEqual(['PENDING']);
  state.away = false;
  await waitFor(() => page.statuses().includes('SUCCESS'), { what: 'the result' });
});

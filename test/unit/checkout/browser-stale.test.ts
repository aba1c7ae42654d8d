import { describe, expect, test, vi } from 'vitest';
import { watched } from '#test/fixtures/checkout-scenes.ts';
import { pass, snapshotAt } from './fake-browser.ts';
import { MINUTE, open, passWithPings, scene, serviceNow, useFakeTab } from './fake-page.ts';

useFakeTab();

const [first, second] = scene('choose').payment.offers.map(({ id }) => id) as [string, string];

describe('nothing on the page outlives its truth:', () => {
  test('the end of the grace period is shown when it comes, although nothing changes but the time', async () => {
    const snapshot = scene('expired-grace');
    const opened = open({ ...snapshot, graceEndsAt: new Date(serviceNow() + 2 * MINUTE).toISOString() });
    await passWithPings(opened, 3 * MINUTE);
    expect(opened.state()).toBe('expired');
  });

  test('a clock that is set back while the page is open is a reason to ask for the time', async () => {
    const opened = open(scene('pay'));
    await pass(2_000);
    const truth = serviceNow();
    vi.setSystemTime(Date.now() - 20 * MINUTE);
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('pay'), truth + 1_000) }));
    await pass(1_500);
    expect(Math.abs(opened.props().now - truth)).toBeLessThan(2_500);
  });

  test('a service whose clock was set back is believed, unlike news that was only held up', async () => {
    const opened = open(scene('pay'));
    await pass(1_000);
    opened.network.socket().say({ type: 'update', ...snapshotAt(scene('seen'), serviceNow() - 30_000) });
    expect(opened.state()).toBe('pay');
    opened.network.socket().say({ type: 'update', ...snapshotAt(scene('seen'), serviceNow() - 5 * MINUTE) });
    expect(opened.state()).toBe('seen');
    expect(opened.props().now).toBeLessThan(serviceNow() - 4 * MINUTE);
  });

  test('“too many requests” goes when the address comes by itself', async () => {
    const opened = open(scene('choose'));
    opened.answers[0] = { kind: 'later', reason: 'busy', waitMs: 20_000 };
    opened.props().actions?.select(first);
    await pass(1_000);
    expect(opened.props().problem).toMatchObject({ kind: 'busy' });
    opened.show(watched(scene('choose'), first));
    expect(opened.props().problem).toBeNull();
  });

  test('a choice that failed is no news any more once the payment was found', async () => {
    const opened = open(scene('choose'));
    opened.answers[0] = { kind: 'refused' };
    opened.props().actions?.select(first);
    await pass(100);
    expect(opened.props().problem).toEqual({ kind: 'choose-failed' });
    opened.show(scene('seen'));
    expect(opened.props().problem).toBeNull();
  });
});

describe('choosing something else', () => {
  test('leaves no address said to be copied that is not on the clipboard', async () => {
    const opened = open(watched(scene('choose'), first));
    opened.props().actions?.copy('address', 'the first one');
    await pass(100);
    expect(opened.props().copied).toBe('address');
    opened.show(watched(scene('choose'), second));
    expect(opened.props().copied).toBeNull();
  });

  test('that fails leads back to the choice, not to the address of what was chosen before', async () => {
    const opened = open(watched(scene('choose'), first), { choosing: true });
    opened.answers[0] = { kind: 'refused' };
    opened.props().actions?.select(second);
    await pass(100);
    expect(opened.props().problem).toEqual({ kind: 'choose-failed' });
    expect(opened.state()).toBe('choose');
  });

  test('never shows the former address on the way, also when the answer that has the new one is lost', async () => {
    const opened = open(watched(scene('choose'), first), { choosing: true });
    opened.network.answer(() => ({ kind: 'failed' }));
    opened.props().actions?.select(second);
    const before = opened.draws.length;
    await pass(3_000);
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(watched(scene('choose'), second), serviceNow()) }));
    await pass(5_000);
    const shown = opened.draws.slice(before).map(({ selecting, snapshot }) => selecting?.offerId ?? snapshot.payment.selectedOfferId);
    expect([...new Set(shown)]).toEqual([second]);
    expect(opened.state()).toBe('pay');
  });
});

describe('a payer who waits for an address', () => {
  const waiting = { ...scene('choose'), payment: { ...scene('choose').payment, selectedOfferId: first } };

  test('may choose something else, and nobody goes on asking for the first', async () => {
    const opened = open(scene('choose'));
    opened.answers[0] = { kind: 'working', waitMs: 1_000 };
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(waiting, serviceNow()) }));
    opened.props().actions?.select(first);
    await pass(2_500);
    opened.props().actions?.choose(true);
    expect(opened.state()).toBe('choose');
    const { length } = opened.sent;
    await pass(MINUTE);
    expect(opened.sent).toHaveLength(length);
    expect(opened.state()).toBe('choose');
  });

  test('and goes back to it finds it being prepared again', async () => {
    const opened = open(waiting, { choosing: true });
    opened.answers[0] = { kind: 'working', waitMs: 1_000 };
    opened.props().actions?.choose(false);
    await pass(100);
    expect(opened.state()).toBe('preparing');
    expect(opened.sent.map(({ body }) => body)).toEqual([{ offerId: first }]);
  });
});

describe('what is spoken', () => {
  test('is heard one after the other, when several things happen in one moment', async () => {
    const opened = open(scene('pay'));
    opened.network.socket().say({ type: 'snapshot', ...snapshotAt(scene('pay'), serviceNow()) });
    opened.page.offline();
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('success'), serviceNow()) }));
    opened.page.returned();
    await pass(2_000);
    expect(opened.spoken().sort()).toEqual(['Connected again', 'Returning to Acme Books in 5 seconds']);
  });
});

describe('a server that refuses the snapshot again and again', () => {
  test('is asked on, and the page goes on when it gives in', async () => {
    const opened = open(scene('pay'));
    opened.network.answer(() => ({ kind: 'refused' }));
    opened.network.socket().drop();
    await pass(100);
    const reloaded = open(scene('pay'));
    reloaded.network.answer(() => ({ kind: 'refused' }));
    reloaded.network.socket().drop();
    await pass(30_000);
    expect(reloaded.props().connectionLost).toBe(true);
    reloaded.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('success'), serviceNow()) }));
    await pass(20_000);
    expect(reloaded.state()).toBe('success');
    expect(reloaded.props().connectionLost).toBe(false);
  });
});

describe('the return to the merchant', () => {
  test('is told to those who cannot see it, once, with its seconds', async () => {
    const opened = open(scene('pay'));
    opened.show(scene('success'));
    await pass(3_000);
    expect(opened.spoken()).toEqual(['Returning to Acme Books in 5 seconds']);
  });

  test.each([0, 300, 700])('takes five whole seconds, whenever within one it begins (%d ms)', async (ms) => {
    const opened = open(scene('pay'));
    await pass(1_000 + ms);
    opened.show(scene('success'));
    await pass(4_950);
    expect(opened.left).toEqual([]);
    await pass(1_100);
    expect(opened.left).toHaveLength(1);
  });
});

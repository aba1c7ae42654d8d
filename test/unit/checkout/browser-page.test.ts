import { describe, expect, test, vi } from 'vitest';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import { SCENE_TIME, watched } from '#test/fixtures/checkout-scenes.ts';
import { pass, snapshotAt } from './fake-browser.ts';
import { FAST_MS, MESSAGES, MINUTE, open, passWithPings, scene, serviceNow, useFakeTab } from './fake-page.ts';

useFakeTab();

describe('the first drawing', () => {
  test('is the one of the server, the second has the zone and the actions', () => {
    const { draws } = open(scene('pay'));
    expect(draws[0]).toMatchObject({ timeZone: 'UTC', actions: null, now: SCENE_TIME });
    expect(draws[1]).toMatchObject({ timeZone: undefined, now: SCENE_TIME });
    expect(draws[1]?.actions).not.toBeNull();
  });
});

describe('the clock', () => {
  test('goes by the server, however wrong the payer’s is, and is set right by every frame', async () => {
    const opened = open(scene('pay'));
    opened.show(scene('pay'));
    await pass(10_000);
    expect(Math.abs(opened.props().now - serviceNow())).toBeLessThan(1_100);
    opened.network.socket().say({ type: 'ping', serverTime: new Date(serviceNow() + 2_000).toISOString() });
    await pass(1_000);
    expect(opened.props().now - serviceNow()).toBeGreaterThan(900);
    opened.network.socket().say({ type: 'ping', serverTime: new Date(serviceNow() - 30_000).toISOString() });
    await pass(1_000);
    expect(opened.props().now).toBeGreaterThan(serviceNow());
  });

  test('is set right by the snapshot that a return brings', async () => {
    const opened = open(scene('pay'));
    vi.setSystemTime(Date.now() + 3 * MINUTE);
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('pay'), serviceNow() - 3 * MINUTE) }));
    opened.page.returned();
    await pass(100);
    expect(Math.abs(opened.props().now - (serviceNow() - 3 * MINUTE))).toBeLessThan(1_000);
  });

  test('shows every second of the remaining time once', async () => {
    const opened = open(scene('ending'));
    await pass(30_000);
    const seconds = opened.draws.slice(2).map(({ now, snapshot }) => Math.floor((Date.parse(snapshot.payment.expiresAt) - now) / 1_000));
    const shown = [...new Set(seconds)];
    expect(shown).toEqual(shown.map((_, index) => shown[0]! - index));
    expect(shown.length).toBeGreaterThanOrEqual(30);
  });

  test('a device that slept without an event is a return', async () => {
    const opened = open(scene('pay'));
    await pass(2_000);
    const sockets = opened.network.sockets.length;
    vi.setSystemTime(Date.now() + 10 * MINUTE);
    await pass(1_500);
    expect(opened.network.asked.length).toBeGreaterThan(0);
    expect(opened.network.sockets.length).toBeGreaterThan(sockets);
  });
});

describe('snapshots', () => {
  test('one from before the shown one changes nothing', async () => {
    const opened = open(scene('pay'));
    await pass(5_000);
    opened.show(scene('success'));
    opened.network.socket().say({ type: 'update', ...snapshotAt(scene('pay'), serviceNow() - 3_000) });
    expect(opened.state()).toBe('success');
  });

  test('what happened while the tab was away is there as soon as the payer is back', async () => {
    const opened = open(scene('pay'));
    opened.network.socket().say({ type: 'snapshot', ...snapshotAt(scene('pay'), serviceNow()) });
    await pass(5_000);
    opened.setVisible(false);
    const dead = opened.network.socket();
    await pass(MINUTE);
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('success'), serviceNow()) }));
    opened.setVisible(true);
    opened.page.returned();
    await pass(100);
    expect(opened.state()).toBe('success');
    expect(dead.isOpen()).toBe(false);
  });

  test('a payment that may not be read any more is left to the server’s own page, once', async () => {
    const opened = open(scene('pay'));
    opened.network.answer(() => ({ kind: 'refused' }));
    opened.network.socket().drop();
    await pass(100);
    expect(opened.left).toEqual(['reload']);
    const reloaded = open(scene('pay'));
    reloaded.network.answer(() => ({ kind: 'refused' }));
    reloaded.network.socket().drop();
    await pass(1_000);
    expect(reloaded.left).toEqual([]);
    expect(reloaded.props().connectionLost).toBe(true);
  });

  test('are asked for every 3 s without a socket, and rarely when nothing more is expected', async () => {
    const opened = open(scene('pay'));
    const noSockets = setInterval(() => opened.network.socket().drop(), 20);
    await pass(30_000);
    expect(opened.network.asked.length).toBeGreaterThanOrEqual(10);
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('under'), serviceNow()) }));
    await pass(4_000);
    const before = opened.network.asked.length;
    await pass(MINUTE);
    expect(opened.network.asked.length - before).toBeLessThanOrEqual(4);
    clearInterval(noSockets);
  });
});

describe('spoken notices', () => {
  test('of the time are four over a whole payment: at 10, 5 and 1 minute, and at its end', async () => {
    const opened = open(scene('pay'));
    await passWithPings(opened, 16 * MINUTE);
    expect(opened.spoken()).toEqual(['10 minutes left at this price', '5 minutes left at this price', '1 minute left at this price', 'Time is up']);
  });

  test('are not repeated by a reload', async () => {
    const first = open(scene('pay'));
    await passWithPings(first, 6 * MINUTE);
    first.page.left();
    const second = open(scene('pay'));
    vi.setSystemTime(SCENE_TIME + FAST_MS + 4.9 * MINUTE);
    await passWithPings(second, 10 * MINUTE);
    expect(
      first
        .spoken()
        .concat(second.spoken())
        .filter((text) => text.startsWith('10')),
    ).toHaveLength(1);
  });

  test('slept through are not made up for: only the last one is spoken, when somebody listens, with the minutes that are left then', async () => {
    const opened = open(scene('pay'));
    await pass(2_000);
    opened.setVisible(false);
    await passWithPings(opened, 11 * MINUTE);
    expect(opened.spoken()).toEqual([]);
    opened.setVisible(true);
    await pass(2_000);
    expect(opened.spoken()).toEqual(['4 minutes left at this price']);
  });

  test('end when the payment is found, even in the second in which one was due', async () => {
    const opened = open(scene('pay'));
    await passWithPings(opened, 5 * MINUTE - 300);
    opened.show(scene('seen'));
    await passWithPings(opened, 12 * MINUTE);
    expect(opened.spoken()).toEqual([]);
  });

  test.each(['seen', 'success'])('do not say that time is up when it was %s in the last second', async (name) => {
    const opened = open(scene('ending'));
    await passWithPings(opened, 3 * MINUTE - 300);
    const { expiresAt } = scene('ending').payment;
    opened.show({ ...scene(name), payment: { ...scene(name).payment, expiresAt } });
    await passWithPings(opened, MINUTE);
    expect(opened.spoken().filter((text) => !text.startsWith('Returning'))).toEqual(['1 minute left at this price']);
  });

  test('are none before an address exists', async () => {
    const opened = open(scene('choose'));
    await passWithPings(opened, 16 * MINUTE);
    expect(opened.spoken()).toEqual([]);
  });

  test('of an open amount promise no price', async () => {
    const opened = open(scene('open'));
    await passWithPings(opened, 6 * MINUTE);
    expect(opened.spoken()).toEqual(['10 minutes left']);
  });
});

describe('choosing', () => {
  const offerOf = (snapshot: Snapshot, index = 0) => snapshot.payment.offers[index]!.id;

  test('asks until the address is there, and shows it with the answer', async () => {
    const opened = open(scene('choose'));
    const offerId = offerOf(scene('choose'));
    opened.answers.splice(0, 1, { kind: 'working', waitMs: 1_000 }, () => {
      opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(watched(scene('choose'), offerId), serviceNow()) }));
      return { kind: 'done' };
    });
    opened.props().actions?.select(offerId);
    expect(opened.state()).toBe('preparing');
    await pass(700);
    expect(opened.state()).toBe('preparing');
    await pass(500);
    expect(opened.state()).toBe('pay');
    expect(opened.sent.map(({ body }) => body)).toEqual([{ offerId }, { offerId }]);
    expect(opened.urls).toContain('chosen');
    await pass(MINUTE);
    expect(opened.sent).toHaveLength(2);
  });

  test('says for how long it has been waiting, second by second', async () => {
    const opened = open(scene('choose'));
    opened.answers[0] = { kind: 'working', waitMs: 5_000 };
    opened.props().actions?.select(offerOf(scene('choose')));
    await pass(31_000);
    expect(opened.props().selecting?.elapsedMs).toBeGreaterThanOrEqual(30_000);
    opened.props().actions?.select(offerOf(scene('choose')));
    expect(opened.props().selecting?.elapsedMs).toBe(0);
  });

  test('is over when the address comes by itself', async () => {
    const opened = open(scene('choose'));
    opened.answers[0] = { kind: 'working', waitMs: 5_000 };
    opened.props().actions?.select(offerOf(scene('choose')));
    await pass(1_000);
    opened.show(watched(scene('choose'), offerOf(scene('choose'))));
    expect(opened.state()).toBe('pay');
    await pass(MINUTE);
    expect(opened.sent).toHaveLength(1);
  });

  test('does not fight with another tab that chose something else', async () => {
    const opened = open(scene('choose'));
    const other = offerOf(scene('choose'), 1);
    opened.answers[0] = { kind: 'working', waitMs: 2_000 };
    opened.props().actions?.select(offerOf(scene('choose')));
    await pass(1_000);
    opened.show({ ...scene('choose'), payment: { ...scene('choose').payment, selectedOfferId: other } });
    await pass(MINUTE);
    expect(opened.sent).toHaveLength(1);
    expect(opened.props().selecting).toBeNull();
    expect(opened.props().problem).toBeNull();
  });

  test('waits as long as a 429 says, says so, and goes on by itself', async () => {
    const opened = open(scene('choose'));
    opened.answers.splice(0, 1, { kind: 'later', reason: 'busy', waitMs: 20_000 }, { kind: 'working', waitMs: 1_000 });
    opened.props().actions?.select(offerOf(scene('choose')));
    await pass(19_000);
    expect(opened.props().problem).toEqual({ kind: 'busy', retryAfterSeconds: 20 });
    expect(opened.sent).toHaveLength(1);
    await pass(1_500);
    expect(opened.sent).toHaveLength(2);
    expect(opened.props().problem).toBeNull();
  });

  test('tells the payer when the server refuses, unless the page says why by itself', async () => {
    const opened = open(scene('choose'));
    opened.answers[0] = { kind: 'refused' };
    opened.props().actions?.select(offerOf(scene('choose')));
    await pass(100);
    expect(opened.props()).toMatchObject({ problem: { kind: 'choose-failed' }, selecting: null });
    expect(opened.state()).toBe('choose');
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('expired-grace'), serviceNow()) }));
    opened.props().actions?.select(offerOf(scene('choose')));
    await pass(100);
    expect(opened.props().problem).toBeNull();
    expect(opened.state()).toBe('expired-grace');
  });

  test('survives a network that drops some answers, and gives up when it drops all', async () => {
    const opened = open(scene('choose'));
    opened.answers[0] = { kind: 'failed' };
    opened.props().actions?.select(offerOf(scene('choose')));
    await pass(4_000);
    expect(opened.props().problem).toBeNull();
    expect(opened.sent.length).toBeGreaterThan(2);
    await pass(MINUTE);
    expect(opened.props()).toMatchObject({ problem: { kind: 'choose-failed' }, selecting: null });
  });

  test('is skipped where there is one offer only, but not when the payer asked to see it', () => {
    const only = { ...scene('choose'), payment: { ...scene('choose').payment, offers: scene('choose').payment.offers.slice(0, 1) } };
    expect(open(only).sent).toHaveLength(1);
    expect(open(only, { choosing: true }).sent).toHaveLength(0);
    expect(open(scene('choose')).sent).toHaveLength(0);
  });

  test('goes on after a reload while the address is being prepared', () => {
    expect(open(scene('preparing')).sent).toMatchObject([{ command: 'select', body: { offerId: scene('preparing').payment.selectedOfferId } }]);
  });

  test('again shows the chooser and back, and a reload shows the same', () => {
    const opened = open(scene('pay'));
    opened.props().actions?.choose(true);
    expect(opened.state()).toBe('choose');
    opened.props().actions?.changeLanguage('tr');
    opened.props().actions?.choose(false);
    expect(opened.state()).toBe('pay');
    expect(opened.urls).toEqual(['choosing', 'tr true', 'chosen']);
  });
});

describe('copying', () => {
  test('takes the text byte for byte, says so each time, and not for long', async () => {
    const opened = open(scene('pay'));
    opened.props().actions?.copy('amount', '50.3299570');
    await pass(500);
    expect(opened.clipboard).toEqual(['50.3299570']);
    expect(opened.props()).toMatchObject({ copied: 'amount', spoken: 'Amount copied' });
    opened.props().actions?.copy('amount', '50.3299570');
    await pass(500);
    expect(opened.draws.map(({ spoken }) => spoken).filter((text, index, all) => text !== all[index - 1])).toEqual(['', 'Amount copied', '', 'Amount copied']);
    await pass(10_000);
    expect(opened.props()).toMatchObject({ copied: null, spoken: '' });
  });

  test('that fails is not said to have worked', async () => {
    const opened = open(scene('pay'));
    opened.props().actions?.copy('address', '');
    await pass(500);
    expect(opened.props()).toMatchObject({ copied: null, spoken: MESSAGES['say.copy-failed'] });
  });
});

describe('a wallet of the browser', () => {
  const wallet = (answer: (method: string) => Promise<unknown>) => ({ fox: { request: ({ method }: { method: string }) => answer(method) } });
  const answers: Record<string, unknown> = { eth_requestAccounts: [`0x${'1'.repeat(40)}`], eth_chainId: '0x1' };
  const refused = Object.assign(new Error('no'), { code: 4001 });

  test('that was asked when the page went away may have sent: whoever comes back is told to look there first', async () => {
    const before = open(
      scene('pay-token-evm'),
      {},
      wallet(async (method) => answers[method] ?? new Promise(() => undefined)),
    );
    before.props().actions?.payWith('fox');
    await pass(100);
    expect(before.props().walletAsked).toBe('asking');
    before.page.left();
    expect(
      open(
        scene('pay-token-evm'),
        {},
        wallet(async () => []),
      ).props().problem,
    ).toEqual({ kind: 'wallet-failed' });
  });

  test('that said no sent nothing: whoever comes back reads of nothing', async () => {
    const before = open(
      scene('pay-token-evm'),
      {},
      wallet(async (method) => answers[method] ?? Promise.reject(refused)),
    );
    before.props().actions?.payWith('fox');
    await pass(100);
    expect(before.props()).toMatchObject({ walletAsked: null, problem: null });
    expect(
      open(
        scene('pay-token-evm'),
        {},
        wallet(async () => []),
      ).props().problem,
    ).toBeNull();
  });
});

describe('the sandbox', () => {
  test('sends the scenario and shows what came of it, or that it was refused', async () => {
    const opened = open(scene('pay-sandbox'));
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('success'), serviceNow()) }));
    opened.props().actions?.simulate('success');
    await pass(100);
    expect(opened.sent).toMatchObject([{ command: 'simulate', body: { scenario: 'success' } }]);
    expect(opened.state()).toBe('success');
    opened.answers[0] = { kind: 'refused' };
    opened.props().actions?.simulate('expired');
    await pass(100);
    expect(opened.props().problem).toEqual({ kind: 'simulate-failed' });
  });
});

describe('the return to the merchant', () => {
  test('comes 5 s after success that the payer sees, once', async () => {
    const opened = open(scene('pay'));
    await pass(2_000);
    opened.show(scene('success'));
    expect(opened.props().returning).toEqual({ secondsLeft: 5 });
    await pass(4_000);
    expect(opened.left).toEqual([]);
    await pass(2_100);
    expect(opened.left).toEqual([scene('success').returnUrl]);
    await pass(MINUTE);
    expect(opened.left).toHaveLength(1);
  });

  test('waits for the payer to look', async () => {
    const opened = open(scene('pay'));
    opened.setVisible(false);
    opened.show(scene('acceptable'));
    await pass(MINUTE);
    expect(opened.left).toEqual([]);
    opened.setVisible(true);
    opened.page.returned();
    await pass(6_100);
    expect(opened.left).toEqual([scene('acceptable').returnUrl]);
  });

  test.each(['success', 'acceptable'])('never begins on a page that is opened when all is over (%s)', async (name) => {
    const opened = open(scene(name));
    opened.show(scene(name));
    await pass(MINUTE);
    expect(opened.props().returning).toBeNull();
    expect(opened.left).toEqual([]);
  });

  test('can be stopped, for good', async () => {
    const opened = open(scene('pay'));
    opened.show(scene('success'));
    await pass(3_000);
    opened.props().actions?.stopReturning();
    await pass(MINUTE);
    expect(opened.props().returning).toBe('stopped');
    expect(opened.left).toEqual([]);
    const reloaded = open(scene('success'));
    await pass(MINUTE);
    expect(reloaded.left).toEqual([]);
  });

  test('does not throw out again a payer who came back with the browser’s own button', async () => {
    const first = open(scene('pay'));
    first.show(scene('success'));
    await pass(2_000);
    first.page.left();
    const again = open(scene('success'));
    await pass(MINUTE);
    expect(again.left).toEqual([]);
    expect(again.props().returning).toBeNull();
  });

  test.each(['under', 'over', 'mismatch', 'expired', 'expired-grace', 'seen'])('never happens by itself from %s', async (name) => {
    const opened = open(scene(name));
    await pass(20_000);
    expect(opened.props().returning).toBeNull();
    expect(opened.left).toEqual([]);
  });
});

describe('a lost connection', () => {
  test('is said while it lasts, and that it is over', async () => {
    const opened = open(scene('pay'));
    opened.network.socket().say({ type: 'snapshot', ...snapshotAt(scene('pay'), serviceNow()) });
    opened.page.offline();
    expect(opened.props().connectionLost).toBe(true);
    opened.page.returned();
    await pass(500);
    expect(opened.props().connectionLost).toBe(false);
    expect(opened.spoken()).toEqual(['Connected again']);
  });

  test('a server that fails is said to fail, and the payer’s own problem comes first', async () => {
    const opened = open(scene('pay'));
    opened.network.answer(() => ({ kind: 'later', reason: 'unavailable', waitMs: 0 }));
    opened.network.socket().drop();
    await pass(2_000);
    expect(opened.props()).toMatchObject({ connectionLost: false, problem: { kind: 'unavailable' } });
    opened.network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(scene('pay'), serviceNow()) }));
    await pass(10_000);
    expect(opened.props().problem).toBeNull();
  });
});

import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { IndexerDeps, Life } from '#indexer/life.ts';
import { LEASE_SECONDS, type Pulse, RENEW_MS } from '#indexer/lease.ts';
import { keepPulse, publish } from '#indexer/publish.ts';
import { createTrail } from '#indexer/trail.ts';
import { createWatchlist } from '#indexer/watchlist.ts';
import { createWake } from '#indexer/wake.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { POLICY } from '#shared/core/policy.ts';

/** As many names of 128 characters as make a message of half of what may be on its way. */
const PAYERS = Array.from({ length: POLICY.charactersAhead / 2 / 132 }, (_, i) => String(i).padStart(128, 'a'));

/** What a life needs to publish; nothing was sent yet. */
const aLife = (appliedWake: Life['appliedWake']): Life =>
  ({
    network: { name: 'local' },
    epoch: 1,
    seq: 0,
    appliedSeq: 0,
    ahead: [],
    leaseUntilMs: Number.POSITIVE_INFINITY,
    appliedWake,
    pulseWake: createWake(),
  }) as unknown as Life;

it('runs ahead of the consumer by no more characters than Redis and the consumer should have to hold', async () => {
  const sent: number[] = [];
  const wake = createWake();
  let waits = 0;
  const wait: Life['appliedWake']['wait'] = (...given) => {
    waits += 1;
    return wake.wait(...given);
  };
  const life = aLife({ ...wake, wait });
  const streams = { append: async (_stream: string, payload: string) => `${sent.push(payload.length)}-0` };
  const deps = { log: pino({ level: 'silent' }), monotonicMs: () => 0, streams } as unknown as IndexerDeps;
  const abort = new AbortController();
  const send = (height: number): Promise<void> => {
    const place = { height, blockHash: `0xb${height}`, position: 0, time: 1 };
    const one: Transfer = {
      kind: 'native',
      txid: `0x${height}`,
      ordinal: 0,
      ...place,
      sender: '0xs',
      coSenders: PAYERS,
      recipient: '0xr',
      contract: null,
      rawAmount: '1',
    };
    const marks = { safeNumber: 0, finalNumber: 0, headNumber: height };
    const draft = { from: height, to: height, parentHash: `0xb${height - 1}`, hash: `0xb${height}`, time: 1, sightings: [one], acks: [], ...marks };
    return publish(deps, life, draft, abort.signal);
  };
  await send(1);
  await send(2);
  const third = send(3);
  await expect.poll(() => waits).toBeGreaterThan(0);
  expect(sent).toHaveLength(2);
  life.appliedSeq = 1;
  life.appliedWake.ring();
  await third;
  expect(sent).toHaveLength(3);
  expect(life.ahead.map(({ seq }) => seq)).toEqual([2, 3]);
  expect(life.ahead.reduce((sum, { characters }) => sum + characters, 0)).toBeLessThanOrEqual(POLICY.charactersAhead);
});

it('says why Redis takes no message, once in the log and for as long as it does not', async () => {
  const told: string[] = [];
  const seen: (string | undefined)[] = [];
  const wait: Life['appliedWake']['wait'] = async () => {
    seen.push(life.unsent);
    return false;
  };
  const life = aLife({ ...createWake(), wait });
  let tries = 0;
  const append = async (): Promise<string> => {
    tries += 1;
    if (tries <= 3) throw new Error('OOM command not allowed');
    return '1-0';
  };
  const log = pino({ level: 'warn' }, { write: (line: string) => void told.push(line) });
  const deps = { log, monotonicMs: () => 0, streams: { append } } as unknown as IndexerDeps;
  const marks = { safeNumber: 0, finalNumber: 0, headNumber: 1 };
  const draft = { from: 1, to: 1, parentHash: '0xb0', hash: '0xb1', time: 1, sightings: [], acks: [], ...marks };
  await publish(deps, life, draft, new AbortController().signal);
  expect(seen).toEqual(Array(3).fill('OOM command not allowed'));
  expect(told).toHaveLength(1);
  expect(life.unsent).toBeUndefined();
});

describe('the pulse', () => {
  const QUIET: Pulse = { held: true, appliedSeq: 0, unacked: [], rewind: null, rescan: false, now: new Date(0) };

  /** A pulse on a clock of its own, of which each beat says what it noted and waits to be answered. */
  function aPulse() {
    let nowMs = 0;
    const beats: { note: string | undefined; answer(pulse?: Partial<Pulse>): void; fail(): void }[] = [];
    const rests: number[] = [];
    const sql = (strings: TemplateStringsArray, ...values: unknown[]) => {
      if (!strings[0]?.includes('with renewed')) return { strings, values };
      const noted = (values[0] as { values: { values?: unknown[] }[] }).values[0]?.values?.[0] as string | undefined;
      return new Promise((resolve, reject) => {
        beats.push({ note: noted, answer: (pulse = {}) => resolve([{ ...QUIET, ...pulse }]), fail: () => reject(new Error('the database is away')) });
      });
    };
    const bell = createWake();
    const pulseWake: Life['pulseWake'] = {
      ...bell,
      wait: (ms, signal) => {
        rests.push(ms);
        return bell.wait(3_600_000, signal);
      },
    };
    const wakes = { scanWake: createWake(), appliedWake: createWake(), rescanWake: createWake() };
    const life = {
      ...wakes,
      network: { name: 'local' },
      epoch: 1,
      seq: 0,
      appliedSeq: 0,
      trail: createTrail(undefined, []),
      watchlist: createWatchlist(),
      pulseWake,
    };
    const gauge = { set: () => undefined };
    const deps = {
      sql,
      log: pino({ level: 'silent' }),
      monotonicMs: () => nowMs,
      streams: { deaf: () => false, problem: () => null },
      metrics: { leader: gauge, watchedAddresses: gauge },
    } as unknown as IndexerDeps;
    const told: string[] = [];
    const abort = new AbortController();
    const running = keepPulse(deps, life as unknown as Life, ({ type }) => void told.push(type), abort.signal);
    const beat = async (number: number) => {
      await expect.poll(() => beats.length).toBe(number);
      return beats[number - 1] as (typeof beats)[number];
    };
    return {
      life: life as unknown as Life,
      told,
      rests,
      running,
      beat,
      pass: (ms: number) => {
        nowMs += ms;
      },
      wakeUp: () => bell.ring(),
      stop: async () => {
        abort.abort();
        await running;
      },
    };
  }

  it('notes a block with a beat that is soon due, which renews the lease and puts off the next', async () => {
    const { life, beat, pass, rests, stop } = aPulse();
    (await beat(1)).answer();
    await expect.poll(() => rests).toEqual([RENEW_MS]);
    pass(RENEW_MS / 2 - 1);
    expect(await life.noteWithPulse?.('early')).toBe(false);
    pass(1);
    const noted = life.noteWithPulse?.('in time');
    expect(await life.noteWithPulse?.('meanwhile')).toBe(false);
    const second = await beat(2);
    expect(second.note).toBe('in time');
    second.answer();
    expect([await noted, life.leaseUntilMs]).toEqual([true, RENEW_MS / 2 + LEASE_SECONDS * 1_000]);
    expect(await life.noteWithPulse?.('early again')).toBe(false);
    await stop();
    expect(life.noteWithPulse).toBeUndefined();
  });

  it('beats for a nudge that comes while a block is noted, and soon where the note found something open', async () => {
    const { life, beat, pass, wakeUp, rests, stop } = aPulse();
    (await beat(1)).answer();
    await expect.poll(() => rests.length).toBe(1);
    pass(RENEW_MS - 100);
    const noted = life.noteWithPulse?.('block');
    const second = await beat(2);
    wakeUp();
    await expect.poll(() => rests.length).toBe(2);
    second.answer();
    await noted;
    (await beat(3)).answer();
    await expect.poll(() => rests.length).toBe(3);
    pass(RENEW_MS / 2);
    const another = life.noteWithPulse?.('next block');
    (await beat(4)).answer({ unacked: [`0x${'ab'.repeat(20)}`] });
    await another;
    // Not when the beat before it was due, but while something is on its way.
    await expect.poll(() => rests.at(-1)).toBe(500);
    await stop();
  });

  it.each([{ rewind: 'asked for' }, { held: false }])('ends a life by what a note was answered: %o', async (answer) => {
    const { life, beat, pass, rests, told, running } = aPulse();
    (await beat(1)).answer();
    await expect.poll(() => rests.length).toBe(1);
    pass(RENEW_MS);
    const noted = life.noteWithPulse?.('block');
    (await beat(2)).answer(answer);
    await Promise.all([noted, running]);
    expect(told).toEqual(['rewind' in answer ? 'REWIND' : 'FAILED']);
  });

  it('says that a block was not noted where the database is away, and beats by itself', async () => {
    const { life, beat, pass, wakeUp, rests, told, stop } = aPulse();
    (await beat(1)).answer();
    await expect.poll(() => rests.length).toBe(1);
    pass(RENEW_MS);
    const noted = life.noteWithPulse?.('block');
    (await beat(2)).fail();
    await expect(noted).rejects.toThrow('away');
    wakeUp();
    (await beat(3)).answer();
    await stop();
    expect(told).toEqual([]);
  });
});

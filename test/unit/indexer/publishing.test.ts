import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { IndexerDeps, Life } from '#indexer/life.ts';
import { publish } from '#indexer/publish.ts';
import { createWake } from '#indexer/wake.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { POLICY } from '#shared/core/policy.ts';

/** As many names of 128 characters as make a message of half of what may be on its way. */
const PAYERS = Array.from({ length: POLICY.charactersAhead / 2 / 132 }, (_, i) => String(i).padStart(128, 'a'));

it('runs ahead of the consumer by no more characters than Redis and the consumer should have to hold', async () => {
  const sent: number[] = [];
  const wake = createWake();
  let waits = 0;
  const wait: Life['appliedWake']['wait'] = (...given) => {
    waits += 1;
    return wake.wait(...given);
  };
  const life = {
    network: { name: 'local' },
    epoch: 1,
    seq: 0,
    appliedSeq: 0,
    ahead: [],
    leaseUntilMs: Number.POSITIVE_INFINITY,
    appliedWake: { ...wake, wait },
    pulseWake: createWake(),
  } as unknown as Life;
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

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capProblem, type Leaving } from '#api/signer/asset-caps.ts';
import type { JournalEntry } from '#api/signer/journal-entry.ts';
import { codecOf } from '#shared/chains/codecs.ts';
import type { AssetCaps, NetworkConfig } from '#shared/core/assets.ts';
import { demoNetwork } from '#test/harness/networks.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const network = await demoNetwork();
const TOKEN = network.assets[1]?.contract as string;
const CAPS: AssetCaps = { perTransaction: '100', hourly: '200', daily: '300', floorUsd: '1' };
const GAS_CAPS: AssetCaps = { perTransaction: '1', hourly: '2', daily: '3', floorUsd: '1000' };

function chainWith(over: Partial<NetworkConfig> = {}, caps: { token?: AssetCaps; native?: AssetCaps } = { token: CAPS, native: GAS_CAPS }) {
  const assets = network.assets.map((asset) => {
    const own = asset.contract === null ? caps.native : asset.contract === TOKEN ? caps.token : CAPS;
    return own === undefined ? asset : { ...asset, caps: own };
  });
  const config = { ...network, assets, ...over };
  return { config, codec: codecOf(config) };
}
const chain = chainWith();

let nonce = 0;
const leaving = (tokens: number, over: Partial<Leaving> = {}): Leaving => ({
  network: 'ethereum',
  slot: `nonce:0xwallet:${nonce++}`,
  contract: TOKEN,
  rawAmount: BigInt(tokens) * 10n ** 6n,
  rawFee: 0n,
  leaves: true,
  ...over,
});
const signed = (tokens: number, minutesAgo: number, over: Partial<Leaving> = {}): JournalEntry => ({
  ...leaving(tokens, over),
  order: 'settlement:x',
  payout: 'x',
  kind: 'transfer',
  txid: 'x',
  sender: '0xwallet',
  recipient: '0xshop',
  inputs: [],
  expiresAtMs: null,
  signedAtMs: NOW - minutesAgo * MINUTE,
});
const judge = (what: Leaving, earlier: readonly JournalEntry[] = [], { on = chain, strict = true } = {}) =>
  capProblem(on, what, { earlier, nowMs: NOW, strict });

describe('coins of an asset', () => {
  it('leave up to the caps of the signer’s configuration, to the unit', () => {
    expect(judge(leaving(100))).toBeNull();
    expect(judge(leaving(0, { rawAmount: 100_000_001n }))).toMatch(/more than 100 USDT per transaction/);
    expect(judge(leaving(100), [signed(100, 59)])).toBeNull();
    expect(judge(leaving(100), [signed(100, 59), signed(1, 30)])).toMatch(/more than 200 USDT hourly/);
    expect(judge(leaving(100), [signed(100, 61), signed(100, 62)])).toBeNull();
    expect(judge(leaving(100), [signed(100, 61), signed(100, 62), signed(1, 1_439)])).toMatch(/more than 300 USDT daily/);
    expect(judge(leaving(100), [signed(100, 61), signed(100, 62), signed(1, 1_441)])).toBeNull();
  });

  it('count once for bytes that exclude each other, with the most any of them takes', () => {
    const slot = 'nonce:0xwallet:again';
    expect(judge(leaving(100, { slot }), [signed(100, 5, { slot }), signed(100, 4, { slot }), signed(100, 3)])).toBeNull();
    expect(judge(leaving(100), [signed(60, 5, { slot }), signed(100, 4, { slot })])).toBeNull();
    expect(judge(leaving(100), [signed(60, 5, { slot }), signed(101, 4, { slot })])).toMatch(/hourly/);
  });

  it('that stay with us count no more than their fee, and those of another network not at all', () => {
    expect(judge(leaving(1_000, { leaves: false }))).toBeNull();
    expect(judge(leaving(100), [signed(5_000, 1, { leaves: false }), signed(5_000, 1, { network: 'other' })])).toBeNull();
  });

  it('paid as fees are coins that leave, whatever else moves', () => {
    expect(judge(leaving(1, { leaves: false, rawFee: 10n ** 17n }), [signed(0, 1, { rawFee: 2n * 10n ** 18n, leaves: false })])).toMatch(
      /more than 2 ETH hourly/,
    );
    expect(judge(leaving(1, { rawFee: 3n * 10n ** 17n }))).toMatch(/a fee of at least 300(\.00)? USD is above the ceiling/);
  });

  it('are worth at least their floor price, so that a forged price lets no more US dollars out', () => {
    const limits = { ...network.limits, perTransactionUsd: '90', hourlyUsd: '150', dailyUsd: '1000' };
    const poor = chainWith({ limits });
    expect(judge(leaving(91), [], { on: poor })).toMatch(/more than 90(\.00)? USD per transaction/);
    expect(judge(leaving(90), [signed(61, 5)], { on: poor })).toMatch(/more than 150(\.00)? USD hourly/);
    expect(judge(leaving(90), [signed(60, 5)], { on: poor })).toBeNull();
  });

  it('that the configuration does not know, or does not cap, leave only where the signer is not strict', () => {
    const unknown = leaving(1, { contract: '0x00000000000000000000000000000000000000aa' });
    expect(judge(unknown)).toMatch(/has no such asset/);
    expect(judge(unknown, [], { strict: false })).toBeNull();
    expect(judge(leaving(1), [], { on: chainWith({}, { native: GAS_CAPS }) })).toMatch(/caps it not/);
    expect(judge(leaving(1), [], { on: chainWith({}, {}), strict: false })).toBeNull();
  });

  it('never leave in any order of signatures beyond a cap in any hour or day', () => {
    const steps = fc.array(fc.record({ units: fc.integer({ min: 1, max: 120 }), minutes: fc.integer({ min: 0, max: 90 }) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const journal: JournalEntry[] = [];
        let now = NOW;
        for (const { units, minutes } of all) {
          now += minutes * MINUTE;
          const what = leaving(units);
          if (capProblem(chain, what, { earlier: journal, nowMs: now, strict: true }) === null) journal.push({ ...signed(units, 0), ...what, signedAtMs: now });
        }
        for (const end of journal) {
          const within = (window: number): number =>
            journal
              .filter(({ signedAtMs }) => signedAtMs <= end.signedAtMs && signedAtMs > end.signedAtMs - window * MINUTE)
              .reduce((sum, { rawAmount }) => sum + Number(rawAmount) / 1e6, 0);
          expect(within(60)).toBeLessThanOrEqual(200);
          expect(within(1_440)).toBeLessThanOrEqual(300);
        }
      }),
    );
  });
});

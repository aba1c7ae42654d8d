import type { Chain } from '#api/deps.ts';
import { FEE_CEILING_USD, WINDOWS } from '#api/payouts/rules/limits.ts';
import type { AssetConfig, OutgoingLimits } from '#shared/core/assets.ts';
import { amount, coinsToUsd, formatCents, fromUnits, parseTrusted, toUnits, type Usd, zero } from '#shared/core/money.ts';
import type { JournalEntry } from './journal-entry.ts';

/** The facts about a transaction that the caps look at. */
export type Leaving = Pick<JournalEntry, 'network' | 'slot' | 'contract' | 'rawAmount' | 'rawFee' | 'leaves'>;

/**
 * Why the caps in the signer's own configuration do not allow a transaction yet, or null (decisions 10). Pure.
 * They cap coins of each asset, and US dollars at configured floor prices, per transaction, hour and day. Earlier signatures come from the signer's
 * journal; prices, decimals and sums in the database are not read. Only one transaction of a slot can be mined, so each slot counts its largest
 * amount per asset. `strict` refuses assets without caps.
 */
export function capProblem(
  chain: Pick<Chain, 'config' | 'codec'>,
  leaving: Leaving,
  { earlier, nowMs, strict }: { earlier: readonly JournalEntry[]; nowMs: number; strict: boolean },
): string | null {
  const assets = new Map(chain.config.assets.map((asset) => [canonical(chain, asset), asset]));
  const native = assets.get(null);
  const asset = assets.get(leaving.contract);
  if (leaving.leaves && asset === undefined) return strict ? 'the signer’s configuration has no such asset' : null;
  if (strict && [asset, native].some((one) => one !== undefined && one.caps === undefined)) return 'the signer’s configuration caps it not';

  const fee = native?.caps === undefined ? zero : worth(native, leaving.rawFee);
  if (fee > FEE_CEILING_USD) return `a fee of at least ${formatCents(fee)} USD is above the ceiling of ${formatCents(FEE_CEILING_USD)} USD`;
  const own = taken([leaving], leaving.network);
  const before = (seconds: number): Taken =>
    taken(
      earlier.filter(({ slot, signedAtMs }) => slot !== leaving.slot && signedAtMs > nowMs - seconds * 1_000),
      leaving.network,
    );
  const windows = [
    { name: 'per transaction', cap: 'perTransaction', usd: 'perTransactionUsd', sum: own },
    ...WINDOWS.map(({ name, seconds, limit }) => ({ name, cap: name as 'hourly' | 'daily', usd: limit, sum: add(own, before(seconds)) })),
  ] as const;
  for (const { name, cap, usd, sum } of windows) {
    for (const [contract, one] of assets) {
      if (one.caps === undefined || !own.has(contract)) continue;
      const most = toUnits(parseTrusted(one.caps[cap]), one.decimals) ?? 0n;
      if ((sum.get(contract) ?? 0n) > most) return `more than ${one.caps[cap]} ${one.symbol} ${name} would leave, by the signer’s own journal`;
    }
    const dollars = dollarsOf(assets, sum);
    const limit = parseTrusted<'usd'>(chain.config.limits[usd satisfies keyof OutgoingLimits]);
    if (dollars > limit) return `more than ${formatCents(limit)} USD ${name} would leave, at floor prices and by the signer’s own journal`;
  }
  return null;
}

/** Chain units by contract; the key null is the native coin. */
type Taken = ReadonlyMap<string | null, bigint>;

/** The sum of what these transactions take away; each slot counts its largest amount per asset. */
function taken(all: readonly Leaving[], network: string): Taken {
  const slots = new Map<string, Map<string | null, bigint>>();
  for (const one of all) {
    if (one.network !== network) continue;
    const slot = slots.get(one.slot) ?? new Map<string | null, bigint>();
    const moved = new Map<string | null, bigint>([[null, one.rawFee]]);
    if (one.leaves) moved.set(one.contract, (moved.get(one.contract) ?? 0n) + one.rawAmount);
    for (const [contract, raw] of moved) if (raw > (slot.get(contract) ?? 0n)) slot.set(contract, raw);
    slots.set(one.slot, slot);
  }
  return [...slots.values()].reduce(add, new Map());
}

function add(a: Taken, b: Taken): Taken {
  const sum = new Map(a);
  for (const [contract, raw] of b) sum.set(contract, (sum.get(contract) ?? 0n) + raw);
  return sum;
}

function dollarsOf(assets: ReadonlyMap<string | null, AssetConfig>, sum: Taken): Usd {
  let dollars = 0n;
  for (const [contract, raw] of sum) {
    const asset = assets.get(contract);
    if (asset?.caps !== undefined) dollars += worth(asset, raw);
  }
  return amount<'usd'>(dollars);
}

/** The value of chain units at the configured floor price, in US dollars, rounded up. */
function worth({ decimals, caps }: AssetConfig, raw: bigint): Usd {
  return caps === undefined ? zero : coinsToUsd(fromUnits(raw, decimals), parseTrusted<'usd'>(caps.floorUsd), 'up');
}

function canonical({ codec }: Pick<Chain, 'codec'>, { contract }: AssetConfig): string | null {
  if (contract === null) return null;
  const parsed = codec.parse(contract);
  return parsed.ok ? parsed.canonical : contract;
}

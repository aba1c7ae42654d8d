import type { Stage } from './stage.ts';

/** One thing that was measured; units are in the name of each field. */
export type Figures = Record<string, number | string | boolean | null>;

/** A goal of reference/performance.md held against what was measured. */
export interface Verdict {
  goal: string;
  /** The measured ratio or figure the goal speaks of. */
  measured: number;
  met: boolean;
  /** What keeps it from being better. */
  limit?: string;
}

/** What one bench found: everything measured in one run, side by side, so that ratios hold whatever else the machine does. */
export interface Found {
  /** By contestant or size. */
  figures: Record<string, Figures>;
  ratios: Record<string, number>;
  goals: Verdict[];
  /** Proofs without which no figure counts: sums that were exact, books that balance, durability that was on. */
  proofs: Record<string, boolean | number | string>;
}

/** `tiny` proves that the bench works and says nothing about speed. */
export type Size = 'tiny' | 'full';

export interface Bench {
  /** One sentence. */
  what: string;
  run(stage: Stage, size: Size): Promise<Found>;
}

/** A ratio with three digits that mean something. */
export function ratio(a: number, b: number): number {
  return b === 0 ? 0 : Number((a / b).toPrecision(3));
}

/** A figure with three digits that mean something, or whole above a thousand. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3));
}

/** The value below which a share of the samples lie; NaN without any. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

import type { Deps } from '#api/deps.ts';

/** The local chains of a development deployment, as far as moving the clock needs them. */
export interface DevChains {
  /** Moves every local chain's clock by whole seconds, which makes it `serviceNow` there, and mines one block on it; resolves when they all have. */
  warp(seconds: number, serviceNow: Date): Promise<void>;
}

/** What the operator API has beside the rest: the means to move time, absent in production. */
export interface OperatorDeps extends Deps {
  devChains: DevChains | null;
  /** Runs all periodic work and every due job of this process and waits for them; does nothing in a process without workers. */
  runDue(): Promise<void>;
}

/** One operator request as its operation sees it. */
export interface OperatorCall {
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
}

import type { NetworkConfig } from '#shared/core/assets.ts';
import type { Usd } from '#shared/core/money.ts';

interface AnyQuestion {
  /** The same for every repetition of one question, for providers that recognise it. */
  idempotencyKey: string;
  network: Pick<NetworkConfig, 'name' | 'family' | 'chainId'>;
  amountUsd?: Usd;
}

/** May money go there? The address is in the form people know. */
export interface DestinationQuestion extends AnyQuestion {
  direction: 'withdrawal';
  address: string;
}

/** Where did this money come from? Addresses are in the form people know. */
export interface DepositQuestion extends AnyQuestion {
  direction: 'deposit';
  txid: string;
  recipient: string;
  senders: readonly string[];
}

export type ScreeningQuestion = DestinationQuestion | DepositQuestion;
/** A question before its row, whose id is its key, exists. */
export type UnaskedQuestion = Omit<DestinationQuestion, 'idempotencyKey'> | Omit<DepositQuestion, 'idempotencyKey'>;

/** What a provider came to. Which score is too high is the gateway's business. */
export interface Verdict {
  /** 0 to 100, a fraction counted as the next whole point. */
  score: number;
  sanctioned: boolean;
  /** What it found, the largest share first. */
  categories: readonly string[];
  /** The provider's own id of the check. */
  ref: string | null;
}

/** Unsure is never a verdict: whatever an answer does not say clearly makes the provider `unavailable`. */
export type ScreeningAnswer =
  | ({ outcome: 'verdict' } & Verdict)
  /** The check was ordered; `poll` asks for it by its id. */
  | { outcome: 'pending'; ref: string }
  /** Our own account with the provider is empty. */
  | { outcome: 'no_credit' }
  /** `problem` never holds a secret. */
  | { outcome: 'unavailable'; problem: string };

export interface ScreeningCapabilities {
  /** Whether it tells more than whether an address is on a sanctions list. */
  score: boolean;
  /** Whether a check may take longer than one answer. */
  async: boolean;
  /** Whether it recognises a repeated question by its key and charges it once. */
  idempotent: boolean;
  /** Networks it knows, as `family:chainId`; null means all. */
  networks: readonly string[] | null;
}

/** A source of verdicts. Neither call throws or outlasts its signal. */
export interface ScreeningProvider {
  name: string;
  capabilities: ScreeningCapabilities;
  ask(question: ScreeningQuestion, signal: AbortSignal): Promise<ScreeningAnswer>;
  /** Asks again for a check that was pending. */
  poll(ref: string, signal: AbortSignal): Promise<ScreeningAnswer>;
}

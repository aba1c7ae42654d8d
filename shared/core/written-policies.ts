/** A policy of a gateway as JSON has it: dollars as decimal text (console 3). */
export interface WrittenPolicy {
  when: {
    aboveUsd?: string | undefined;
    dayAboveUsd?: string | undefined;
    assetIds?: string[] | undefined;
    destination?: 'known' | 'unknown' | undefined;
    youngerThanDays?: number | undefined;
    initiator?: 'key' | 'person' | undefined;
    route?: 'GREEN' | 'AML_HELD' | 'SMART' | undefined;
  };
  outcome: { kind: 'allow' } | { kind: 'approve'; people: number } | { kind: 'refuse' };
}

/** What a gateway asks of its cashouts: its policies, of which the first that fits decides, and the cap for what none is about. */
export interface PolicyBook {
  policies: WrittenPolicy[];
  /** Null for no cap. */
  capUsd: string | null;
}

/** What a past cashout would meet: the place of the policy, and what it asks for; `cap` and `none` where no policy is about it. */
export interface TrialVerdict {
  policy: number | null;
  outcome: 'allow' | 'refuse' | 'cap' | 'none' | { people: number };
}

/** A past cashout, and what it would meet by the policies there are and by others. */
export interface TrialRow {
  id: string;
  at: string;
  amount: string;
  asset: string;
  amountUsd: string | null;
  before: TrialVerdict;
  after: TrialVerdict;
}

/** What other policies would have changed for the last cashouts. */
export interface PolicyTrial {
  looked: number;
  /** Those that would meet something else, the newest first. */
  different: TrialRow[];
}

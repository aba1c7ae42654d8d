/** What browsers load beside a page. */
export interface ConsoleAssets {
  script: string;
  style: string;
  icon: string;
}

/** Somewhere a person may do something. */
export interface Place {
  /** Null for the deployment itself. */
  name: string | null;
  role: string;
}

export type Screen =
  | { kind: 'sign-in' }
  | { kind: 'invitation'; action: string; email: string; place: string | null; role: string | null; by: 'passkey' | 'session' | 'sign-in' }
  | { kind: 'places'; places: Place[] }
  | {
      kind: 'profile';
      passkeys: { id: string; createdAt: string; usedAt: string | null; only: boolean }[];
      sessions: { id: string; browser: string; address: string; createdAt: string; seenAt: string; here: boolean }[];
    }
  | { kind: 'problem'; problem: ProblemKind; requestId: string };

export type ProblemKind = 'not-found' | 'link-gone' | 'refused' | 'busy' | 'unavailable';

export interface PageModel {
  assets: ConsoleAssets;
  /** E-mail address of whoever is signed in. */
  person: string | null;
  screen: Screen;
  /** What went wrong with what was asked for last, in one sentence. */
  notice: string | null;
}

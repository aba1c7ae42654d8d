import type { Deps } from '#api/deps.ts';
import { writeReport } from '#api/store/signer-journal.ts';
import { JOURNAL_STATES } from './compare.ts';
import type { SignerJournal } from './signer-journal.ts';

/** How often it is looked after. */
export const LOOK_MILLISECONDS = 5_000;
/** Every so many looks, each signature of the last day is looked up in Postgres. */
const COMPARE_EVERY = 60;
/** The report is written again every so many looks, about once a minute, even if nothing changed: an old report means that the signer is gone. */
const REPORT_EVERY = 12;

export interface JournalKeeper {
  /** Why the journal keeps the signer from working, or null. Null also for a standby, which waits until the process that signs gives up the lock. */
  health(): Promise<string | null>;
  /** Closes the journal and releases its folder to a process that waits. */
  stop(): Promise<void>;
}

/**
 * Opens the journal, tries again whenever the cause that kept it closed changed, and reports its state in Postgres, in metrics and in the log.
 * While the journal is closed the signer keeps running but signs nothing. `pause` is the time between two looks, in milliseconds.
 */
export async function keepJournal(
  deps: Pick<Deps, 'db' | 'log' | 'metrics'>,
  journal: SignerJournal,
  { pause = LOOK_MILLISECONDS }: { pause?: number } = {},
): Promise<JournalKeeper> {
  let [stopping, looks, unknown, said] = [false, 0, 0, ''];
  let rouse: () => void = () => undefined;

  const look = async (): Promise<void> => {
    const problem = await journal.open(deps.db, pause);
    const state = problem?.state ?? 'open';
    if (problem === null && looks % COMPARE_EVERY === 0) unknown = await journal.countUnknown(deps.db.sql);
    looks += 1;
    for (const each of JOURNAL_STATES) deps.metrics?.journalState.set({ state: each }, each === state ? 1 : 0);
    deps.metrics?.journalUnknown.set(unknown);
    if (journal.head !== undefined) deps.metrics?.journalSignatures.set(journal.head.seq);
    const report = { state, reason: problem?.reason ?? '', unknown };
    const saying = JSON.stringify(report);
    if (saying !== said || looks % REPORT_EVERY === 0) await writeReport(deps.db.sql, report);
    if (saying === said) return;
    said = saying;
    if (problem !== null) deps.log.error({ state, reason: problem.reason }, 'nothing is signed: the journal cannot be used');
    else if (unknown > 1) deps.log.error({ signatures: unknown }, 'Postgres does not know signatures that the journal holds');
    else deps.log.info({ journal: journal.head?.id, signatures: journal.head?.seq }, 'journal opened');
  };
  const lookOrSay = (): Promise<void> => look().catch((error: unknown) => deps.log.warn({ err: error }, 'looking after the journal failed'));

  await lookOrSay();
  const running = (async () => {
    while (!stopping) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        rouse = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (!stopping) await lookOrSay();
    }
  })();
  return {
    async health() {
      const problem = await journal.problem(deps.db.sql);
      return problem === null || problem.state === 'locked' ? null : `${problem.state}: ${problem.reason}`;
    },
    async stop() {
      stopping = true;
      rouse();
      await running;
      journal.close();
    },
  };
}

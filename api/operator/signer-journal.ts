import type { Deps, Reply } from '#api/deps.ts';
import { makeSeal } from '#api/signer/journal/seal.ts';
import { readHead, readReport } from '#api/store/signer-journal.ts';
import { insertStatements } from '#api/store/keyed-orders.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { Act } from './act.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readText } from './input.ts';
import { propose } from './propose.ts';

const MAX_REASON = 500;

/** Which journal is to take the signer's place of memory; the content of a proposal, as text. */
interface Content {
  journalId: string;
  signatures: string;
  hash: string;
  /** Id of the journal that Postgres knows; empty where it knows none. */
  replaces: string;
}

/** GET /signer/journal: what the signer says of its journal, and how far Postgres knows it. */
export async function showSignerJournal(deps: Deps): Promise<Reply> {
  const [head, report] = await Promise.all([readHead(deps.db.sql), signerReport(deps.db.sql)]);
  const known = head === undefined ? null : { journalId: head.id, signatures: head.seq, hash: head.hash };
  return { status: 200, data: { known, report } };
}

/** What the signer said last of its journal; null while none ever did. Locks nothing. */
export async function signerReport(sql: Reads): Promise<object | null> {
  const report = await readReport(sql);
  return report === undefined ? null : { ...report, reportedAt: report.reportedAt.toISOString() };
}

/**
 * POST /signer/journal: proposes that a journal which was rebuilt on the signer's host is its memory from now on; nothing is signed with it
 * before a second person confirms it (decisions 10).
 * @throws validation_error naming journalId, signatures, hash or reason
 */
export async function proposeSignerJournal(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const journalId = readText(fields, 'journalId');
  if (!isUuid(journalId)) throw invalid('journalId', 'must be the id that sluice signer journal reseal printed');
  const hash = readText(fields, 'hash');
  if (!/^[0-9a-f]{64}$/.test(hash)) throw invalid('hash', 'must be 64 hex digits');
  const signatures = fields.signatures;
  if (typeof signatures !== 'number' || !Number.isSafeInteger(signatures) || signatures < 0) throw invalid('signatures', 'must be how many it holds');
  const reason = readText(fields, 'reason', MAX_REASON);
  const replaces = (await readHead(deps.db.sql))?.id ?? '';
  const content: Content = { journalId, signatures: String(signatures), hash, replaces };
  return propose(deps, { act: 'signer.journal', target: journalId, content: { ...content }, reason });
}

/** Says, with the key of this process, that two people want it; the signer believes nothing else about another journal. */
export const sealSignerJournal: Act = {
  async execute(tx, deps, { proposal, confirmedBy }) {
    const { SLUICE_INTENT_KEY: key } = deps.config;
    if (key === undefined) throw new ServiceError('conflict', { message: 'This process has no SLUICE_INTENT_KEY to say it with.' });
    const { journalId, signatures, hash, replaces } = proposal.content as unknown as Content;
    if (((await readHead(tx))?.id ?? '') !== replaces)
      throw new ServiceError('conflict', { message: 'Postgres knows another journal by now; withdraw the proposal, and look again.' });
    const { proposedBy, reason } = proposal;
    await insertStatements(tx, [makeSeal(key, { journalId, seq: Number(signatures), hash, replaces, proposedBy, confirmedBy, reason })]);
    return { journalId };
  },
};

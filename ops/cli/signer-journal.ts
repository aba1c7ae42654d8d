import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareHeads } from '#api/signer/journal/compare.ts';
import { accountsOf, initJournal } from '#api/signer/journal/init-journal.ts';
import { readInterchange, writeInterchange } from '#api/signer/journal/interchange.ts';
import { JournalFile } from '#api/signer/journal/journal-file.ts';
import { importJournal, type Pending, resealJournal } from '#api/signer/journal/put-journal.ts';
import type { RebuildingChain } from '#api/signer/journal/rebuild.ts';
import { journalPath } from '#api/signer/journal/signer-journal.ts';
import { findNetwork } from '#api/store/networks.ts';
import { readHead, readReport, REPORT_FRESH_MS } from '#api/store/signer-journal.ts';
import { instanceDirectory, readDevFile } from '#ops/dev/dev-file.ts';
import { codecOf, openDeriver } from '#shared/chains/codecs.ts';
import { openPayer } from '#shared/chains/payers.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { readNetworksFile } from '#shared/platform/config.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { type Command, type Options, requiredReason, type Result, textOption, UnreachableError, UsageError } from './command.ts';
import { facts } from './format.ts';
import { AS, describeProposal, operatorAs, type Proposal } from './proposal.ts';

const HERE = {
  journal: { type: 'string', help: 'folder of the journal; SLUICE_SIGNER_JOURNAL, or what npm start uses, unless given' },
  database: { type: 'string', help: 'URL of the database; DATABASE_URL, or what npm start runs, unless given' },
  networks: { type: 'string', help: 'the networks file; SLUICE_NETWORKS, or what npm start uses, unless given' },
} as const;

/** What a command on the signer's host works with. */
interface Place {
  db: Database;
  folder: string;
  networks: NetworkConfig[];
  accounts: Record<string, string>;
}

export const signerJournalCommands: readonly Command[] = [
  {
    name: 'signer journal status',
    args: '',
    summary: 'on the signer’s host: what its journal holds, what Postgres knows of it, and what the signer says; exit code 1 unless all is well',
    options: HERE,
    arity: [0, 0],
    run: (_context, _args, options) => at(options, status),
  },
  {
    name: 'signer journal init',
    args: '',
    summary: 'on the signer’s host: begin an empty journal; only where nothing was ever signed',
    options: HERE,
    arity: [0, 0],
    run: (_context, _args, options) =>
      at(options, async ({ db, folder, accounts }) => {
        const head = await initJournal(db, { folder, accounts, id: randomUUID(), now: Date.now() });
        return { data: head, text: `journal ${head.id} begins in ${folder}` };
      }),
  },
  {
    name: 'signer journal verify',
    args: '[export]',
    summary: 'read every record of the journal, or of an export, prove it, and compare it with Postgres',
    options: HERE,
    arity: [0, 1],
    run: (_context, [path], options) => at(options, (place) => verify(place, path)),
  },
  {
    name: 'signer journal export',
    args: '<file>',
    summary: 'write the journal where it is kept, while the signer runs: a line of JSON per signature, with the hash over all before it',
    options: HERE,
    arity: [1, 1],
    async run(_context, [path = ''], options) {
      const file = JournalFile.open(journalPath(await folderOf(options)), { write: false });
      try {
        const head = await writeInterchange(file, path);
        return { data: head, text: `exported ${head.seq} signatures of journal ${head.id} to ${path}` };
      } finally {
        file.close();
      }
    },
  },
  {
    name: 'signer journal import',
    args: '<export>',
    summary: 'put an export in place that holds all that is there, and all that Postgres knows of; the signer must not run with it',
    options: HERE,
    arity: [1, 1],
    run: (_context, [path = ''], options) => at(options, (place) => putInPlace(place, path)),
  },
  {
    name: 'signer journal restore',
    args: '',
    summary: 'put a backup in place; one that is older than Postgres is completed from the books, and waits for two people',
    options: { ...HERE, from: { type: 'string', help: 'the export (required)' } },
    arity: [0, 0],
    run: (_context, _args, options) =>
      at(options, async (place) => {
        const from = textOption(options, 'from');
        if (from === undefined) throw new UsageError('--from is required');
        const given = readInterchange(from);
        const compared = compareHeads({ head: given.head, hashAt: (seq) => given.hashes[seq] }, await readHead(place.db.sql));
        return 'ahead' in compared ? putInPlace(place, from) : reseal(place, from);
      }),
  },
  {
    name: 'signer journal reseal',
    args: '',
    summary: 'rebuild the journal from what is left of it and from the books; it waits for two people',
    options: HERE,
    arity: [0, 0],
    run: (_context, _args, options) => at(options, (place) => reseal(place)),
  },
  {
    name: 'signer journal propose',
    args: '<journal> <signatures> <hash>',
    summary: 'propose a journal that reseal or restore made; a second person confirms it: sluice proposal confirm',
    options: { as: AS, reason: { type: 'string', help: 'why; kept in the audit log (required)' } },
    arity: [3, 3],
    async run(context, [journalId, signatures, hash], options) {
      const reason = requiredReason(options);
      const operator = operatorAs(await context(), options);
      const body = { journalId, signatures: Number(signatures), hash, reason };
      const proposal = (await operator.must('POST', '/signer/journal', { body })) as unknown as Proposal;
      return {
        data: proposal,
        text: `${describeProposal(proposal)}\n\nnothing is signed with it before another person runs: sluice proposal confirm ${proposal.id}`,
      };
    },
  },
];

async function status({ db, folder }: Place): Promise<Result> {
  const [known, report] = [await readHead(db.sql), await readReport(db.sql)];
  const found = existsSync(journalPath(folder)) ? JournalFile.open(journalPath(folder), { write: false }) : undefined;
  const head = found?.head;
  const compared = found === undefined ? { state: 'missing', reason: `there is no journal in ${folder}` } : compareHeads(found, known);
  found?.close();
  const [{ now }] = await db.sql<[{ now: Date }]>`select sluice_now() as now`;
  const fresh = report !== undefined && now.getTime() - report.reportedAt.getTime() <= REPORT_FRESH_MS;
  const good = 'ahead' in compared && report?.state === 'open' && fresh;
  const data = { head: head ?? null, known: known ?? null, report: report ?? null, compared };
  const text = facts({
    journal: head?.id ?? 'none',
    signatures: head === undefined ? null : String(head.seq),
    hash: head?.hash ?? null,
    'Postgres knows': known === undefined ? 'none' : `${known.seq} signatures of ${known.id}`,
    compared:
      'ahead' in compared
        ? `well${compared.ahead > 0 ? `; Postgres has not heard of the last ${compared.ahead}` : ''}`
        : `${compared.state}: ${compared.reason}`,
    'the signer says': report === undefined ? 'nothing yet' : `${report.state}${report.reason === '' ? '' : `: ${report.reason}`}`,
    'it said so at': report === undefined ? null : `${report.reportedAt.toISOString()}${fresh ? '' : ', and nothing since: is it running?'}`,
    'Postgres has no bytes of': report === undefined ? null : `${report.unknown} signatures of the last day`,
  });
  return { data, text, good };
}

async function verify({ db, folder }: Place, path: string | undefined): Promise<Result> {
  const known = await readHead(db.sql);
  if (path !== undefined) {
    const { head, hashes } = readInterchange(path);
    return verified(head, compareHeads({ head, hashAt: (seq) => hashes[seq] }, known));
  }
  const file = JournalFile.open(journalPath(folder), { write: false });
  const found = verified(file.head, compareHeads(file, known));
  file.close();
  return found;
}

function verified(head: { id: string; seq: number; hash: string }, compared: ReturnType<typeof compareHeads>): Result {
  const good = 'ahead' in compared;
  const how = good ? `it holds all that Postgres knows of${compared.ahead > 0 ? `, and ${compared.ahead} more` : ''}` : `${compared.state}: ${compared.reason}`;
  return { data: { head, compared }, text: `journal ${head.id}: ${head.seq} signatures, each as it was written; ${how}`, good };
}

async function putInPlace(place: Place, path: string): Promise<Result> {
  const head = await importJournal(place.db, place, readInterchange(path));
  return { data: head, text: `journal ${head.id} with ${head.seq} signatures is in place; the signer takes it within seconds` };
}

async function reseal(place: Place, from?: string): Promise<Result> {
  const { db, networks } = place;
  const chains = new Map<string, RebuildingChain>();
  for (const config of networks) {
    const stored = await findNetwork(db.sql, config.name);
    if (stored !== undefined)
      chains.set(config.name, { id: stored.id, config, codec: codecOf(config), deriver: openDeriver(config), payer: openPayer(config) });
  }
  const pending = await resealJournal(db, { ...place, chains, id: randomUUID(), now: Date.now() }, from === undefined ? undefined : readInterchange(from));
  return { data: pending, text: describePending(pending) };
}

function describePending({ head, old, known, onlyInJournal, onlyInBooks, wallets }: Pending): string {
  const text = facts({
    'rebuilt journal': head.id,
    signatures: String(head.seq),
    hash: head.hash,
    'what was there': old === null ? 'nothing that can be believed' : `${old.seq} signatures of ${old.id}`,
    'Postgres knew': known === null ? 'none' : `${known.seq} signatures of ${known.id}`,
    'only in the old journal': String(onlyInJournal),
    'only in the books': onlyInBooks.length === 0 ? '0' : `${onlyInBooks.length}, such as ${onlyInBooks.slice(0, 3).join(', ')}`,
  });
  const chain = wallets.map(({ network, role, usedByChain, knownUpTo }) => {
    if (usedByChain === null) return `${role} wallet of ${network}: no node says how many nonces it has used`;
    const odd = usedByChain > knownUpTo ? ': MORE THAN ANYBODY HERE KNOWS OF. Find out what it sent before this is confirmed' : '';
    return `${role} wallet of ${network}: the chain has used ${usedByChain} nonces, and this journal knows ${knownUpTo}${odd}`;
  });
  const next = `sluice signer journal propose ${head.id} ${head.seq} ${head.hash} --reason '…'`;
  return [text, ...chain, '', `nothing is signed with it before one person runs, and another one confirms:\n  ${next}`].join('\n');
}

async function at(options: Options, work: (place: Place) => Promise<Result>): Promise<Result> {
  const dev = await readDevFile(instanceDirectory(process.env, process.cwd())).catch(() => undefined);
  const url = textOption(options, 'database') ?? process.env.DATABASE_URL ?? fileOf('DATABASE_URL') ?? dev?.databaseUrl;
  const file =
    textOption(options, 'networks') ??
    process.env.SLUICE_NETWORKS ??
    (dev === undefined ? undefined : join(instanceDirectory(process.env, process.cwd()), 'chains', 'networks.json'));
  if (url === undefined || file === undefined)
    throw new UnreachableError('run it where the signer runs, with its settings: DATABASE_URL, SLUICE_NETWORKS, SLUICE_SIGNER_JOURNAL');
  const networks = readNetworksFile(file);
  const db = connect(url, { name: 'sluice-journal', max: 2, deadlines: 'long' });
  try {
    return await work({ db, folder: await folderOf(options), networks, accounts: accountsOf(networks) });
  } finally {
    await db.end();
  }
}

async function folderOf(options: Options): Promise<string> {
  const given = textOption(options, 'journal') ?? process.env.SLUICE_SIGNER_JOURNAL;
  if (given !== undefined) return given;
  if ((await readDevFile(instanceDirectory(process.env, process.cwd())).catch(() => undefined)) !== undefined)
    return join(instanceDirectory(process.env, process.cwd()), 'journal');
  throw new UnreachableError('which journal? set SLUICE_SIGNER_JOURNAL or --journal');
}

/** A setting that is given as a file. */
function fileOf(name: string): string | undefined {
  const path = process.env[`${name}_FILE`];
  return path === undefined ? undefined : readFileSync(path, 'utf8').trim();
}

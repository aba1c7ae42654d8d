import { randomUUID } from 'node:crypto';
import { appendFileSync, copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps, Gateway } from '#api/deps.ts';
import { showFreezes } from '#api/operator/freeze.ts';
import { confirmProposal } from '#api/operator/proposals.ts';
import { proposeSignerJournal } from '#api/operator/signer-journal.ts';
import { accountsOf, initJournal } from '#api/signer/journal/init-journal.ts';
import { readInterchange, writeInterchange } from '#api/signer/journal/interchange.ts';
import { JournalFile } from '#api/signer/journal/journal-file.ts';
import { keepJournal } from '#api/signer/journal/keep-journal.ts';
import { importJournal, resealJournal } from '#api/signer/journal/put-journal.ts';
import { journalPath, SignerJournal } from '#api/signer/journal/signer-journal.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { listSignable } from '#api/store/payouts.ts';
import { readHead, readHeadAndSignable, writeReport } from '#api/store/signer-journal.ts';
import { reservedAccount } from '#state-machines/ledger/accounts.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { trustedKeys } from '#shared/platform/statements.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { aTreasury, type Treasury } from '#test/fixtures/treasury.ts';

let treasury: Treasury;
let shop: Gateway;
let journal: SignerJournal;
const folders: string[] = [];
const sql = () => treasury.world.database.sql;

beforeAll(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
  journal = treasury.deps.journal as SignerJournal;
  await treasury.earn(shop, 'USDC', '200');
});
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await treasury.stop();
});

const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-journal-test-'));
  folders.push(folder);
  return folder;
};
const accounts = () => accountsOf([treasury.network.config]);
/** Another signer's journal, in a folder of its own. */
const journalIn = (folder: string, more: { accounts?: Record<string, string>; fatal?: (error: unknown) => void } = {}) =>
  new SignerJournal({
    folder,
    accounts: accounts(),
    trusted: trustedKeys(treasury.deps.config),
    log: treasury.deps.log,
    fatal: (error) => {
      throw error;
    },
    ...more,
  });
const using = (other: SignerJournal): Deps => ({ ...treasury.deps, journal: other });

/** A cashout that is planned, and waits for the signer. */
async function planned(): Promise<string> {
  const { id } = await treasury.cashOut(shop, 'USDC', '3');
  for (let round = 0; round < 20; round++) {
    await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
    await treasury.work();
    const [found] = await sql()<
      { id: string }[]
    >`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED' and plan ? 'rawFee'`;
    if (found !== undefined) return found.id;
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
  throw new Error('the cashout was never planned');
}
/** A cashout that was paid, by the payout that paid it. */
async function settled(): Promise<{ id: string; nonce: number; settlement: string }> {
  const { id: settlement } = await treasury.cashOut(shop, 'USDC', '3');
  await treasury.settleAll();
  const [payout] = await sql()<
    { id: string; nonce: number }[]
  >`select id, nonce from payouts where settlement_id = ${settlement} and purpose = 'settlement' and status = 'CONFIRMED'`;
  return { id: payout?.id ?? '', nonce: payout?.nonce ?? -1, settlement };
}
const attempts = async (payoutId: string) => (await sql()`select txid from payout_attempts where payout_id = ${payoutId}`).length;

describe('the journal of a signer that works', () => {
  it('holds exactly what Postgres has bytes of, and Postgres knows its end', async () => {
    const { settlement, ...payout } = await settled();
    const stored = await sql()<{ txid: string }[]>`select txid from payout_attempts`;
    expect(new Set(journal.since(0).map(({ txid }) => txid))).toEqual(new Set(stored.map(({ txid }) => txid)));
    expect(await readHead(sql())).toEqual(journal.head);
    expect(journal.ofOrder(`settlement:${settlement}`)).toEqual([
      expect.objectContaining({
        payout: payout.id,
        slot: `nonce:${treasury.wallet('hot')}:${payout.nonce}`,
        kind: 'transfer',
        recipient: treasury.merchant,
        leaves: true,
      }),
    ]);
    expect(journal.since(0).filter(({ order, leaves }) => order.startsWith('payout:') && leaves)).toEqual([]);
  });
});

describe('a settled cashout that a superuser of the database puts back', () => {
  it('gets no signature before what was signed for it is proven dead, and an alarm says so', async () => {
    const { id: old, settlement } = await settled();
    const [paid] = journal.ofOrder(`settlement:${settlement}`);
    const again = randomUUID();
    await treasury.world.database.transaction(async (tx) => {
      await tx`set local session_replication_role = replica`;
      const account = reservedAccount(shop.id, settlement);
      await tx`update settlements set status = 'REQUESTED', txid = null, received_amount = null where id = ${settlement}`;
      await tx`
        update ledger_accounts set balance = (select amount from settlements where id = ${settlement})
        where kind = ${account.kind} and settlement_id = ${settlement}`;
      await tx`create temporary table was on commit drop as select * from payouts where id = ${old}`;
      await tx`delete from payout_attempts where payout_id = ${old}`;
      await tx`delete from payouts where id = ${old}`;
      await tx`
        insert into payouts
        select (jsonb_populate_record(null::payouts,
          to_jsonb(p) || jsonb_build_object('id', ${again}::text, 'nonce', w.next_nonce, 'status', 'PLANNED', 'txid', null, 'failure', null))).*
        from was p join wallets w on w.id = p.wallet_id`;
      await tx`delete from freezes`;
      await tx`update wallets set next_nonce = next_nonce + 1 where role = 'hot'`;
    });
    const metrics = createApiMetrics('test', { chains: ['ethereum'] });
    const asked: (readonly unknown[])[] = [];
    const notDead = async (...[, , , signed]: Parameters<NonNullable<Parameters<typeof signPayout>[3]>>) => {
      asked.push(signed);
      return 'it is in a final block';
    };
    expect(await signPayout({ ...treasury.deps, metrics }, treasury.signers, again, notDead)).toBe('waiting');
    expect(asked).toEqual([[paid]]);
    expect(await attempts(again)).toBe(0);
    expect(journal.ofOrder(`settlement:${settlement}`)).toEqual([paid]);
    expect(await sql()`select failure from payouts where id = ${again}`).toEqual([{ failure: 'the signer remembers: it is in a final block' }]);
    expect((await metrics.scrape()).body).toContain('sluice_signer_journal_contradictions_total{chain="ethereum",answer="waiting"} 1');

    // To somebody else it is never paid, whatever is dead. Everything but the journal lets the same thing pass.
    expect(await signPayout(treasury.deps, treasury.signers, again, async () => null)).toBe('signed');
    expect(journal.ofOrder(`settlement:${settlement}`)).toHaveLength(2);
  });
});

describe('a signer whose journal is not what it was', () => {
  let payoutId: string;
  let copy: string;
  beforeAll(async () => {
    treasury.world.deps.log.info({}, 'a world of its own, after rows were made up in the other');
    await treasury.stop();
    treasury = await aTreasury();
    shop = await treasury.world.aGateway();
    journal = treasury.deps.journal as SignerJournal;
    await treasury.earn(shop, 'USDC', '200');
    payoutId = await planned();
    await treasury.settleAll();
    copy = aFolder();
    await writeInterchange(JournalFile.open(journalPath(folderOf(journal)), { write: false }), join(copy, 'export.jsonl'));
    copyFileSync(journalPath(folderOf(journal)), join(copy, 'journal.jsonl'));
    payoutId = await planned();
  });
  const folderOf = (one: SignerJournal): string => one.folder;
  const refused = async (other: SignerJournal, state: string) => {
    expect(await other.open(treasury.deps.db)).toMatchObject({ state });
    expect(await signPayout(using(other), treasury.signers, payoutId)).toBe('waiting');
    expect(await attempts(payoutId)).toBe(0);
    expect(await sql()`select failure from payouts where id = ${payoutId}`).toEqual([{ failure: expect.stringContaining("the signer's journal: ") }]);
  };

  it('signs nothing without one, and never begins one by itself', async () => {
    const folder = aFolder();
    await refused(journalIn(folder), 'missing');
    await expect(initJournal(treasury.deps.db, { folder, accounts: accounts(), id: randomUUID(), now: 0 })).rejects.toThrow('Postgres knows a journal already');
    await sql()`delete from signer_journal`;
    await expect(initJournal(treasury.deps.db, { folder, accounts: accounts(), id: randomUUID(), now: 0 })).rejects.toThrow('something was signed before');
    // Without what Postgres knew, the signatures it has bytes of tell that an empty one is not it.
    JournalFile.create(journalPath(folder), { id: randomUUID(), createdAtMs: 0, accounts: accounts() });
    await refused(journalIn(folder), 'shorter');
    const { id, seq, hash } = journal.head as NonNullable<typeof journal.head>;
    await sql()`insert into signer_journal (journal_id, seq, hash) values (${id}, ${seq}, ${hash})`;
  });

  it('signs nothing with the journal of another seed, a damaged one, or one that another process holds', async () => {
    const folder = aFolder();
    copyFileSync(join(copy, 'journal.jsonl'), journalPath(folder));
    await refused(journalIn(folder, { accounts: { ethereum: '00000000' } }), 'foreign');
    appendFileSync(journalPath(folder), '["made up"]\n');
    await refused(journalIn(folder), 'corrupt');
    await refused(journalIn(folderOf(journal)), 'locked');
  });

  it('signs nothing with an old copy, and nothing stays signed that only a copy remembers', async () => {
    const fork = aFolder();
    cpSync(folderOf(journal), fork, { recursive: true });
    rmSync(join(fork, 'lock'), { force: true });
    const second = journalIn(fork);
    expect(await second.open(treasury.deps.db)).toBeNull();
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('signed');
    payoutId = await planned();
    // The copy was the same until a moment ago: it sees that somebody else went on.
    expect(await signPayout(using(second), treasury.signers, payoutId)).toBe('waiting');
    expect(await attempts(payoutId)).toBe(0);
    const old = aFolder();
    copyFileSync(join(copy, 'journal.jsonl'), journalPath(old));
    await refused(journalIn(old), 'shorter');
  });

  it('asks nothing that the look for payouts heard just before, and closes at once when that says that somebody else went on', async () => {
    const fork = aFolder();
    cpSync(folderOf(journal), fork, { recursive: true });
    rmSync(join(fork, 'lock'), { force: true });
    const second = journalIn(fork);
    expect(await second.open(treasury.deps.db)).toBeNull();
    const silent = { ...treasury.deps.db, sql: (() => Promise.reject(new Error('it was asked'))) as unknown as typeof treasury.deps.db.sql };
    await expect(second.open(silent, 60_000)).rejects.toThrow('it was asked');
    const { head, waiting } = await readHeadAndSignable(sql(), [treasury.network.id]);
    expect([head, waiting]).toEqual([await readHead(sql()), await listSignable(sql(), [treasury.network.id])]);
    second.hear(head);
    expect(await second.open(silent, 60_000)).toBeNull();
    await expect(second.open(silent, 0)).rejects.toThrow('it was asked');
    second.hear({ ...(head as NonNullable<typeof head>), seq: (head?.seq ?? 0) + 1 });
    expect([second.head, (await second.problem(sql()))?.state]).toEqual([undefined, 'shorter']);
  });

  it('says why it is closed to whoever asked while the look for payouts closed it', async () => {
    const fork = aFolder();
    cpSync(folderOf(journal), fork, { recursive: true });
    rmSync(join(fork, 'lock'), { force: true });
    const second = journalIn(fork);
    expect(await second.open(treasury.deps.db)).toBeNull();
    const head = (await readHead(sql())) as NonNullable<Awaited<ReturnType<typeof readHead>>>;
    const meanwhile = (async () => {
      second.hear({ ...head, seq: head.seq + 1 });
      return [head];
    }) as unknown as typeof treasury.deps.db.sql;
    expect(await second.problem(meanwhile)).toMatchObject({ state: 'shorter' });
  });

  it('signs nothing when it and another one signed at the same moment', async () => {
    const fork = aFolder();
    cpSync(folderOf(journal), fork, { recursive: true });
    rmSync(join(fork, 'lock'), { force: true });
    const second = journalIn(fork);
    expect(await second.open(treasury.deps.db)).toBeNull();
    const [entry] = journal.since(0);
    const append = (one: SignerJournal, txid: string) =>
      treasury.deps.db.transaction((tx) => one.append(tx, { ...(entry as NonNullable<typeof entry>), order: `payout:${txid}`, txid }));
    expect((await Promise.all([append(journal, 'x'), append(second, 'y')])).map((problem) => problem?.state ?? 'signed').sort()).toEqual(['shorter', 'signed']);
    const [winner, loser] = journal.head === undefined ? [second, journal] : [journal, second];
    expect((await loser.problem(sql()))?.state).toBe('shorter');
    expect(await readHead(sql())).toEqual(winner.head);
    // Both wrote their own: from now on they differ for ever.
    await append(winner, 'z');
    expect(await readHead(sql())).toEqual(winner.head);
    winner.close();
  });

  it('ends the process when its disk fails, and stores nothing', async () => {
    const folder = aFolder();
    cpSync(folderOf(journal), folder, { recursive: true });
    rmSync(join(folder, 'lock'), { force: true });
    let died: unknown;
    const broken = journalIn(folder, {
      fatal: (error) => {
        died = error;
      },
    });
    expect(await broken.open(treasury.deps.db)).toBeNull();
    appendFileSync(journalPath(folder), 'somebody else');
    await expect(signPayout(using(broken), treasury.signers, payoutId)).rejects.toThrow('somebody else wrote');
    expect(died).toBeInstanceOf(Error);
    expect(await attempts(payoutId)).toBe(0);
    broken.close();
  });

  it('goes on with its own memory when Postgres went back, and says how much Postgres does not know', async () => {
    const folder = aFolder();
    cpSync(folderOf(journal), folder, { recursive: true });
    rmSync(join(folder, 'lock'), { force: true });
    const known = await readHead(sql());
    await sql()`update signer_journal set seq = 1, hash = ${JournalFile.open(journalPath(folder), { write: false }).hashAt(1) ?? ''}`;
    const metrics = createApiMetrics('test', { chains: ['ethereum'] });
    const ahead = journalIn(folder);
    const keeper = await keepJournal({ ...treasury.deps, metrics }, ahead);
    expect(await ahead.problem(sql())).toBeNull();
    expect(await ahead.ahead(sql())).toBe((known?.seq ?? 0) - 1);
    // The ones that were made up above.
    expect((await showFreezes(treasury.deps)).data).toMatchObject({ signerJournal: { state: 'open', unknown: 1 } });
    expect((await metrics.scrape()).body).toContain('sluice_signer_journal_state{state="open"} 1');
    await keeper.stop();
    await sql()`update signer_journal set seq = ${known?.seq ?? 0}, hash = ${known?.hash ?? ''}`;
  });

  it('says again how it is while it runs, so that a signer that is gone can be told, and a standby speaks over nobody and is ready', async () => {
    const folder = aFolder();
    cpSync(folderOf(journal), folder, { recursive: true });
    rmSync(join(folder, 'lock'), { force: true });
    const keeper = await keepJournal(treasury.deps, journalIn(folder), { pause: 5 });
    const report = async (): Promise<{ state: string; old: boolean } | undefined> =>
      (await sql()<{ state: string; old: boolean }[]>`select state, reported_at < sluice_now() - interval '1 minute' as old from signer_reports`)[0];
    const silence = (): Promise<unknown> => sql()`update signer_reports set reported_at = sluice_now() - interval '90 seconds'`;
    await silence();
    await waitFor(async () => (await report())?.old === false, { what: 'the signer to say it again' });
    const standby = await keepJournal(treasury.deps, journalIn(folder), { pause: 5 });
    expect(await report()).toEqual({ state: 'open', old: false });
    expect([await keeper.health(), await standby.health()]).toEqual([null, null]);
    await standby.stop();
    await keeper.stop();
    expect(await keeper.health()).toContain('missing');
    // Where nobody else says anything, it is told that the journal is locked.
    await writeReport(sql(), { state: 'locked', reason: 'another process', unknown: 0 });
    expect(await report()).toMatchObject({ state: 'open' });
    await sql()`update signer_reports set reported_at = sluice_now() - interval '3 minutes'`;
    await writeReport(sql(), { state: 'locked', reason: 'another process', unknown: 0 });
    expect(await report()).toEqual({ state: 'locked', old: false });
  });

  it('takes a rebuilt journal once two people agreed to that very one, and then signs', async () => {
    const folder = aFolder();
    const chains = treasury.deps.chains;
    const given = readInterchange(join(copy, 'export.jsonl'));
    await expect(importJournal(treasury.deps.db, { folder, accounts: accounts() }, given)).rejects.toThrow('shorter');
    const pending = await resealJournal(treasury.deps.db, { folder, accounts: accounts(), chains, id: randomUUID(), now: 5 }, given);
    const stored = await sql()<{ txid: string }[]>`select txid from payout_attempts`;
    expect(pending.head.seq).toBe(stored.length);
    expect(pending.onlyInBooks.length).toBe(stored.length - given.entries.length);
    expect(pending.onlyInJournal).toBe(0);
    const rebuilt = journalIn(folder);
    expect(await rebuilt.open(treasury.deps.db)).toMatchObject({ state: 'missing' });

    const as = (name: string): Deps => ({
      ...treasury.deps,
      operator: { person: { name }, name: null, clientIp: '127.0.0.1', token: 'named', requestId: null },
    });
    const { id, seq, hash } = pending.head;
    const propose = (body: object) => proposeSignerJournal(as('anna'), { params: {}, query: {}, body });
    const confirm = (proposal: { data: object }) => confirmProposal(as('ben'), { params: { id: (proposal.data as { id: string }).id }, query: {}, body: {} });
    // Agreed, but to another content: nothing of it is taken.
    await confirm(await propose({ journalId: id, signatures: seq, hash: 'ab'.repeat(32), reason: 'a slip' }));
    expect(await rebuilt.open(treasury.deps.db)).toMatchObject({ state: 'missing' });
    await confirm(await propose({ journalId: id, signatures: seq, hash, reason: 'its disk was lost' }));
    expect(await rebuilt.open(treasury.deps.db)).toBeNull();
    expect((await readHead(sql()))?.id).toBe(id);
    expect(await signPayout(using(rebuilt), treasury.signers, payoutId)).toBe('signed');
    // The one it replaced is another journal now, however much it holds.
    expect(await journalIn(copyOf(folderOf(journal))).open(treasury.deps.db)).toMatchObject({ state: 'other' });
    rebuilt.close();
  });

  const copyOf = (from: string): string => {
    const folder = aFolder();
    copyFileSync(journalPath(from), journalPath(folder));
    return folder;
  };
});

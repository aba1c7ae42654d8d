import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMMANDS } from '#ops/cli/commands.ts';
import type { Result } from '#ops/cli/command.ts';
import { keepJournal } from '#api/signer/journal/keep-journal.ts';
import { accountsOf } from '#api/signer/journal/init-journal.ts';
import { journalPath, SignerJournal } from '#api/signer/journal/signer-journal.ts';
import { anEntry } from '#test/fixtures/journal-entry.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';

const NETWORKS = 'ops/dev/networks.json';
let world: InProcess;
let root: string;

beforeAll(async () => {
  world = await inProcess();
  // What the harness began.
  await world.database.sql`delete from signer_journal`;
  root = mkdtempSync(join(tmpdir(), 'sluice-journal-commands-'));
});
afterAll(async () => {
  rmSync(root, { recursive: true, force: true });
  await world.stop();
});

const folder = (name: string): string => join(root, name);
async function run(name: string, args: string[], journal: string | undefined, more: Record<string, string> = {}): Promise<Result> {
  const command = COMMANDS.find((one) => one.name === name);
  const context = () => Promise.reject(new Error('not needed'));
  return (await command?.run(context, args, {
    ...(journal !== undefined && { journal }),
    database: world.database.url,
    networks: NETWORKS,
    ...more,
  })) as Result;
}
const signer = (name: string) =>
  new SignerJournal({
    folder: folder(name),
    accounts: accountsOf([world.network.config]),
    trusted: [],
    log: world.deps.log,
    fatal: (error) => {
      throw error;
    },
  });

it('a journal is begun once, looked at, kept with a backup, moved only forward, and brought back', async () => {
  await run('signer journal init', [], folder('first'));
  await expect(run('signer journal init', [], folder('first'))).rejects.toThrow('is there already');
  await expect(run('signer journal init', [], folder('second'))).rejects.toThrow('Postgres knows a journal already');
  expect(await run('signer journal status', [], folder('first'))).toMatchObject({ good: false, text: expect.stringContaining('nothing yet') });

  const first = signer('first');
  const keeper = await keepJournal(world.deps, first);
  expect(await run('signer journal status', [], folder('first'))).toMatchObject({ good: true });
  // A signer that is gone says nothing.
  await world.database.sql`update signer_reports set reported_at = sluice_now() - interval '3 minutes'`;
  expect(await run('signer journal status', [], folder('first'))).toMatchObject({ good: false, text: expect.stringContaining('is it running?') });
  const sign = (txid: string) => world.database.transaction((tx) => first.append(tx, anEntry({ txid })));
  expect(await sign('a')).toBeNull();
  await run('signer journal export', [folder('old.jsonl')], folder('first'));
  expect(await sign('b')).toBeNull();
  await run('backup create', [folder('backup')], folder('first'));
  // One that is named and not there is a mistake, before anything is written; one that is on another host is none.
  await expect(run('backup create', [folder('nowhere')], folder('none'))).rejects.toThrow('there is no journal in');
  expect(existsSync(folder('nowhere'))).toBe(false);
  const before = process.env.SLUICE_SIGNER_JOURNAL;
  process.env.SLUICE_SIGNER_JOURNAL = folder('none');
  try {
    const { text } = await run('backup create', [folder('without')], undefined);
    expect(text).toContain("the signer's journal is not here");
  } finally {
    if (before === undefined) delete process.env.SLUICE_SIGNER_JOURNAL;
    else process.env.SLUICE_SIGNER_JOURNAL = before;
  }
  expect((await run('backup verify', [folder('backup')], folder('first'))).text).toContain('2 signatures of the signer');
  const kept = join(folder('backup'), 'signer-journal.jsonl');
  expect(await run('signer journal verify', [kept], folder('first'))).toMatchObject({ good: true });
  expect(await run('signer journal verify', [folder('old.jsonl')], folder('first'))).toMatchObject({ good: false, text: expect.stringContaining('shorter') });

  // Not under a signer that works, and never back.
  await expect(run('signer journal import', [kept], folder('first'))).rejects.toThrow('a signer uses this journal');
  await keeper.stop();
  await expect(run('signer journal import', [folder('old.jsonl')], folder('first'))).rejects.toThrow('shorter');
  const whole = readFileSync(journalPath(folder('first')), 'utf8');
  await run('signer journal restore', [], folder('moved'), { from: kept });
  expect(readFileSync(journalPath(folder('moved')), 'utf8')).toBe(whole);
  const moved = signer('moved');
  expect(await moved.open(world.database)).toBeNull();
  moved.close();

  // An older one is completed from the books, and waits for two people.
  const { text } = await run('signer journal restore', [], folder('again'), { from: folder('old.jsonl') });
  expect(text).toContain('sluice signer journal propose');
  expect(await signer('again').open(world.database)).toMatchObject({ state: 'missing' });
});

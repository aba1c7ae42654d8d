import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareHeads, isForeign } from '#api/signer/journal/compare.ts';
import { readInterchange, writeInterchange } from '#api/signer/journal/interchange.ts';
import { JournalFile } from '#api/signer/journal/journal-file.ts';
import { takeLock } from '#api/signer/journal/lock.ts';
import { JournalCorrupt } from '#api/signer/journal/record.ts';
import { anEntry } from '#test/fixtures/journal-entry.ts';

const HEADER = { id: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44', createdAtMs: 1, accounts: { ethereum: '754a2fe4' } };
const ENTRIES = [
  anEntry({ slot: 'nonce:sender:7' }),
  anEntry({ txid: 'b', order: 'payout:p', payout: 'p', network: 'tron', slot: 'txid:b', expiresAtMs: 5, contract: 'T', leaves: false }),
  anEntry({ txid: 'c', network: 'bitcoin', slot: 'output:x:0', inputs: ['x:0', 'y:1'], kind: 'close', rawAmount: 2n ** 200n, signedAtMs: 2_000 }),
];

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-journal-file-'));
  path = join(folder, 'journal.jsonl');
  JournalFile.create(path, HEADER);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The journal with all of them. */
function filled(): JournalFile {
  const file = JournalFile.open(path, { write: true });
  for (const entry of ENTRIES) file.append(entry);
  return file;
}
const reopened = () => JournalFile.open(path, { write: true });

describe('a journal on disk', () => {
  it('gives back every signature as it was, found by order, slot, transaction and time', () => {
    const before = filled();
    const { head } = before;
    before.close();
    for (const file of [reopened()]) {
      expect([...file.entries()]).toEqual(ENTRIES);
      expect(file.head).toEqual(head);
      expect(file.ofOrder('settlement:1')).toEqual([ENTRIES[0], ENTRIES[2]]);
      expect(file.ofOrder('settlement:2')).toEqual([]);
      expect(file.ofSlot('tron', 'txid:b')).toEqual([ENTRIES[1]]);
      expect(file.ofSlot('ethereum', 'txid:b')).toEqual([]);
      expect(file.ofTxid('c')).toEqual([ENTRIES[2]]);
      expect(file.since(2_000)).toEqual([ENTRIES[2]]);
      file.close();
    }
  });

  it('cuts off a last record that was not written to its end, wherever it was torn', () => {
    filled().close();
    const whole = readFileSync(path, 'utf8');
    const lines = whole.split('\n');
    const upToTwo = `${lines.slice(0, 3).join('\n')}\n`.length;
    for (const length of [upToTwo + 1, upToTwo + 40, whole.length - 1]) {
      writeFileSync(path, whole);
      truncateSync(path, length);
      const file = reopened();
      expect(file.head.seq).toBe(2);
      file.append(ENTRIES[2] as (typeof ENTRIES)[0]);
      file.close();
      expect(readFileSync(path, 'utf8')).toBe(whole);
    }
    appendFileSync(path, '\0'.repeat(300));
    const file = reopened();
    expect(file.head.seq).toBe(3);
    file.close();
  });

  it('believes nothing once any other byte is not as it was written', () => {
    filled().close();
    const whole = readFileSync(path);
    for (let at = 0; at < whole.length - 1; at += 7) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 1;
      writeFileSync(path, damaged);
      expect(reopened, `byte ${at}`).toThrow(JournalCorrupt);
    }
  });

  it('believes nothing when a record was left out, repeated or put elsewhere', () => {
    filled().close();
    const [header, a, b, c] = readFileSync(path, 'utf8').split('\n') as [string, string, string, string];
    for (const lines of [
      [header, a, c],
      [header, a, a, b, c],
      [header, b, a, c],
      [a, b, c],
    ]) {
      writeFileSync(path, `${lines.join('\n')}\n`);
      expect(reopened).toThrow(JournalCorrupt);
    }
  });

  it('goes through its export and back without a change, and an export that was changed is none', async () => {
    const file = filled();
    const exported = join(folder, 'export.jsonl');
    const head = await writeInterchange(file, exported);
    file.close();
    expect(readInterchange(exported)).toMatchObject({ head, header: HEADER, entries: ENTRIES });
    writeFileSync(exported, readFileSync(exported, 'utf8').replace('"recipient":"recipient"', '"recipient":"thief"'));
    expect(() => readInterchange(exported)).toThrow(JournalCorrupt);
  });
});

describe('a journal compared with what Postgres knows', () => {
  it('is told to be older, forked or another one, and may be ahead', () => {
    const file = filled();
    const { head } = file;
    const at = (seq: number) => ({ ...head, seq, hash: file.hashAt(seq) as string });
    expect(compareHeads(file, undefined)).toMatchObject({ state: 'other', reason: expect.stringContaining('knows of no journal') });
    expect(compareHeads(file, head)).toEqual({ ahead: 0 });
    expect(compareHeads(file, at(1))).toEqual({ ahead: 2 });
    expect(compareHeads(file, { ...head, seq: 4 })).toMatchObject({ state: 'shorter' });
    expect(compareHeads(file, { ...at(2), hash: head.hash })).toMatchObject({ state: 'forked' });
    expect(compareHeads(file, { ...head, id: 'another' })).toMatchObject({ state: 'other' });
    file.close();
  });

  it('is foreign when a network both know has another key, and when they know none in common; networks may be added', () => {
    expect(isForeign({ ethereum: 'a' }, { ethereum: 'a', tron: 'b' })).toBe(false);
    expect(isForeign({ ethereum: 'a', tron: 'c' }, { ethereum: 'a', tron: 'b' })).toBe(true);
    expect(isForeign({ ethereum: 'a' }, { tron: 'b' })).toBe(true);
  });
});

describe('the lock of a journal', () => {
  it('is one process’s, until it gives it back', async () => {
    const first = await takeLock(folder);
    expect(first?.isOurs()).toBe(true);
    expect(await takeLock(folder)).toBeNull();
    first?.release();
    const second = await takeLock(folder);
    expect(second?.isOurs()).toBe(true);
    second?.release();
  });

  it('is taken at once from a process of this machine that is dead, also when its number is used again', async () => {
    const held = await takeLock(folder);
    const lock = JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')) as { pid: number; began: string };
    for (const dead of [
      { ...lock, token: 'x', pid: 2 ** 22 - 3 },
      { ...lock, token: 'x', began: 'long ago' },
    ]) {
      writeFileSync(join(folder, 'lock'), JSON.stringify(dead));
      expect(held?.isOurs()).toBe(false);
      const taken = await takeLock(folder);
      expect(taken?.isOurs()).toBe(true);
      taken?.release();
    }
  });

  it('is taken from a machine that cannot be asked only after it gave no sign of life for a while', async () => {
    writeFileSync(join(folder, 'lock'), JSON.stringify({ token: 'x', host: 'another', space: '', pid: 1, began: '' }));
    const began = Date.now();
    const taken = await takeLock(folder);
    expect(taken?.isOurs()).toBe(true);
    expect(Date.now() - began).toBeGreaterThan(10_000);
    taken?.release();
  }, 40_000);
});

import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { JournalFile } from '#api/signer/journal/journal-file.ts';
import type { JournalEntry } from '#api/signer/journal-entry.ts';
import { firstHash, headerLine, recordLine } from '#api/signer/journal/record.ts';
import { type Bench, median, ratio, rounded } from './bench.ts';
import type { Read, Reading } from './journal-reader.ts';

const ENTRIES = { tiny: 5_000, full: 1_000_000 };
const APPENDS = { tiny: 50, full: 1_000 };
const ROUNDS = 5;
const HEADER = { id: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44', createdAtMs: 0, accounts: { ethereum: '754a2fe4' } };

/** What the journal costs the signer: its start after a million signatures, memory, and the wait for the disk before each signature leaves. */
export const journal: Bench = {
  what: 'the journal of the signer: opening one of 1,000,000 signatures, memory, and signatures a second with and without waiting for the disk',
  async run(stage, size) {
    const path = join(stage.directory, 'journal.jsonl');
    const count = ENTRIES[size];
    const head = JournalFile.create(path, HEADER, manyEntries(count));
    const reader = await stage.startTool('journal-reader.ts', []);
    const order = entryOf(count - 1).order;
    const opened = await reader.ask<Read>({ path, order } satisfies Reading);
    await reader.stop();
    // In turns, so that whatever else the machine does meets both.
    const rounds = Array.from({ length: ROUNDS }, () => ({
      synced: appended(stage.directory, APPENDS[size]),
      unsynced: written(stage.directory, APPENDS[size]),
    }));
    const synced = median(rounds.map((one) => one.synced));
    const unsynced = median(rounds.map((one) => one.unsynced));
    rmSync(path);
    return {
      figures: {
        open: { signatures: count, seconds: rounded(opened.seconds), rssMib: rounded(opened.rssMib) },
        append: { perSecondSynced: rounded(synced), perSecondUnsynced: rounded(unsynced) },
      },
      ratios: { 'signatures a second, with ÷ without waiting for the disk': ratio(synced, unsynced) },
      goals: [
        { goal: `a journal of ${count} signatures is read and proven in ≤ 15 s`, measured: rounded(opened.seconds), met: opened.seconds <= 15 },
        { goal: 'the process that holds it ≤ 500 MiB resident', measured: rounded(opened.rssMib), met: opened.rssMib <= 500 },
      ],
      proofs: {
        'every signature read, and its hash the one written': opened.seq === head.seq && opened.hash === head.hash,
        'an order found': opened.found === 1,
      },
    };
  },
};

/** What a signature looks like, many times. */
function* manyEntries(count: number): Generator<JournalEntry> {
  for (let at = 0; at < count; at++) yield entryOf(at);
}

function entryOf(at: number): JournalEntry {
  const hex = at.toString(16).padStart(12, '0');
  const sender = '0x44f649fc8dc77694e6abef1aa966983dd6ed7c64';
  return {
    order: `settlement:7d9f2c1e-5b0a-4c3e-9a77-${hex}`,
    payout: `9a779f2c-5b0a-4c3e-9a77-${hex}`,
    network: 'ethereum',
    slot: `nonce:${sender}:${at}`,
    kind: 'transfer',
    txid: `0x${hex.repeat(5)}abcd`,
    sender,
    recipient: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    contract: '0xa15bb66138824a1c7167f5e85b957d04dd34e468',
    rawAmount: 25_000_000n + BigInt(at),
    rawFee: 83_841_453_680_940n,
    leaves: true,
    inputs: [],
    expiresAtMs: null,
    signedAtMs: 1_795_000_000_000 + at,
  };
}

/** Signatures that a journal takes in a second. */
function appended(directory: string, count: number): number {
  const path = join(directory, 'append.jsonl');
  JournalFile.create(path, HEADER);
  const file = JournalFile.open(path, { write: true });
  const began = performance.now();
  for (let at = 0; at < count; at++) file.append(entryOf(at));
  const seconds = (performance.now() - began) / 1_000;
  file.close();
  rmSync(path);
  return count / seconds;
}

/** The same lines, of which nobody waits for the disk. */
function written(directory: string, count: number): number {
  const path = join(directory, 'write.jsonl');
  const fd = openSync(path, 'w');
  let hash = firstHash(headerLine(HEADER));
  const began = performance.now();
  for (let at = 0; at < count; at++) {
    const record = recordLine(hash, entryOf(at));
    writeSync(fd, `${record.line}\n`);
    hash = record.hash;
  }
  const seconds = (performance.now() - began) / 1_000;
  closeSync(fd);
  rmSync(path);
  return count / seconds;
}

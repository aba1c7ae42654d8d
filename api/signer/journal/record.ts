import { hash as digest } from 'node:crypto';
import type { JournalEntry } from '../journal-entry.ts';

/** Version of the file format that this build reads and writes. */
const FORMAT = 1;
const HASH = /^[0-9a-f]{64}$/;
/** A space and the record's hash, at the end of each line. */
const SEAL_LENGTH = 65;

/** First line of a journal: which journal it is, and for whose keys. */
export interface JournalHeader {
  /** Id of this journal. A journal that replaces another has an id of its own. */
  id: string;
  /** Unix milliseconds. */
  createdAtMs: number;
  /** Fingerprint of each network's account key, by the network's name. A journal for other keys is not accepted. */
  accounts: Readonly<Record<string, string>>;
}

/** End of a journal: the number of its signatures, and the hash over all of them. */
export interface JournalHead {
  id: string;
  seq: number;
  /** 64 hex digits. */
  hash: string;
}

/** A line of a journal is not as the signer wrote it. */
export class JournalCorrupt extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JournalCorrupt';
  }
}

/** The header line, without its line feed. */
export function headerLine({ id, createdAtMs, accounts }: JournalHeader): string {
  return JSON.stringify({ sluice: 'signer journal', format: FORMAT, id, createdAtMs, accounts });
}

/** Reads the header line. @throws JournalCorrupt when it is not a header of this format */
export function readHeader(line: string): JournalHeader {
  const read = parsed(line) as (Partial<JournalHeader> & { sluice?: unknown; format?: unknown }) | null;
  if (read === null || typeof read !== 'object' || read.sluice !== 'signer journal') throw new JournalCorrupt('it does not begin as a journal does');
  if (read.format !== FORMAT) throw new JournalCorrupt(`it is of format ${String(read.format)}, which this build does not know`);
  const { id, createdAtMs, accounts } = read;
  if (typeof id !== 'string' || typeof createdAtMs !== 'number' || typeof accounts !== 'object' || accounts === null)
    throw new JournalCorrupt('its first line does not say whose it is');
  return { id, createdAtMs, accounts };
}

/** Hash of the chain before the first record: that of the header line. */
export function firstHash(header: string): string {
  return sha256(header);
}

/** The line of the next record, without its line feed, and the hash of the chain after it. */
export function recordLine(previous: string, entry: JournalEntry): { line: string; hash: string } {
  const body = JSON.stringify(fieldsOf(entry));
  const hash = sha256(`${previous} ${body}`);
  return { line: `${body} ${hash}`, hash };
}

/** Reads a record and verifies that it follows the hash `previous`. @throws JournalCorrupt when it does not */
export function readRecord(previous: string, line: string): { entry: JournalEntry; hash: string } {
  const hash = line.slice(1 - SEAL_LENGTH);
  const body = line.slice(0, -SEAL_LENGTH);
  if (!HASH.test(hash) || sha256(`${previous} ${body}`) !== hash) throw new JournalCorrupt('a record is not the one that was written');
  return { entry: entryOf(body), hash };
}

/** Reads a record whose hash was already verified. */
export function entryOfLine(line: string): JournalEntry {
  return entryOf(line.slice(0, -SEAL_LENGTH));
}

type Fields = [
  order: string,
  payout: string,
  network: string,
  slot: string,
  close: 0 | 1,
  txid: string,
  sender: string,
  recipient: string,
  contract: string | null,
  rawAmount: string,
  rawFee: string,
  leaves: 0 | 1,
  inputs: readonly string[],
  expiresAtMs: number | null,
  signedAtMs: number,
];
const FIELDS = 15;

/** The values of an entry without their names, leaving out what another field already says. */
function fieldsOf(entry: JournalEntry): Fields {
  const { order, payout, network, slot, kind, txid, sender, recipient, contract, rawAmount, rawFee, leaves, inputs, expiresAtMs, signedAtMs } = entry;
  return [
    order,
    order === `payout:${payout}` ? '' : payout,
    network,
    slot.startsWith(`nonce:${sender}:`) ? slot.slice(`nonce:${sender}:`.length) : slot === `txid:${txid}` ? '' : slot,
    kind === 'close' ? 1 : 0,
    txid,
    sender,
    recipient,
    contract,
    rawAmount.toString(),
    rawFee.toString(),
    leaves ? 1 : 0,
    inputs,
    expiresAtMs,
    signedAtMs,
  ];
}

function entryOf(body: string): JournalEntry {
  const read = parsed(body);
  if (!Array.isArray(read) || read.length !== FIELDS) throw new JournalCorrupt('a record has other fields than this build writes');
  const [order, payout, network, slot, close, txid, sender, recipient, contract, rawAmount, rawFee, leaves, inputs, expiresAtMs, signedAtMs] = read as Fields;
  return {
    order,
    payout: payout === '' ? order.slice('payout:'.length) : payout,
    network,
    slot: slot === '' ? `txid:${txid}` : /^\d+$/.test(slot) ? `nonce:${sender}:${slot}` : slot,
    kind: close === 1 ? 'close' : 'transfer',
    txid,
    sender,
    recipient,
    contract,
    rawAmount: BigInt(rawAmount),
    rawFee: BigInt(rawFee),
    leaves: leaves === 1,
    inputs,
    expiresAtMs,
    signedAtMs,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function sha256(text: string): string {
  return digest('sha256', text, 'hex');
}

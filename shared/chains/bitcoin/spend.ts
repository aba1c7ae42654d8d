import { hash } from 'node:crypto';

/** An output as a transaction creates it. */
export interface NewOutput {
  rawAmount: bigint;
  /** Lower-case hexadecimal digits. */
  script: string;
}

/** An input that spends a segwit output, and what that output holds, which its signature commits to (BIP-143). */
export interface SpentOutput {
  txid: string;
  vout: number;
  sequence: number;
  spent: NewOutput;
  /** Witness items; empty as long as nothing is signed. */
  witness: readonly Uint8Array[];
}

/** A transaction that spends segwit outputs only; no input has a script of its own. */
export interface Spend {
  version: number;
  inputs: readonly SpentOutput[];
  outputs: readonly NewOutput[];
  lockTime: number;
}

const SIGHASH_ALL = 1;
/** Says that witnesses follow (BIP-144). */
const WITNESS_MARK = '0001';

/** The transaction without its witnesses: what its id is the hash of. */
export function baseBytes(spend: Spend): Buffer {
  return Buffer.concat([integer(spend.version, 4), ...bodyOf(spend), integer(spend.lockTime, 4)]);
}

/** The transaction as the network takes it (BIP-144). */
export function networkBytes(spend: Spend): Buffer {
  return Buffer.concat([
    integer(spend.version, 4),
    Buffer.from(WITNESS_MARK, 'hex'),
    ...bodyOf(spend),
    ...spend.inputs.map(({ witness }) => witnessBytes(witness)),
    integer(spend.lockTime, 4),
  ]);
}

export function txidOf(spend: Spend): string {
  return Buffer.from(doubleSha256(baseBytes(spend)))
    .reverse()
    .toString('hex');
}

/** What the signature of each P2WPKH input commits to: all inputs and outputs, and what that very input spends (BIP-143). */
export function sighashesOf(spend: Spend): Buffer[] {
  const outpoints = doubleSha256(Buffer.concat(spend.inputs.map(outpointBytes)));
  const sequences = doubleSha256(Buffer.concat(spend.inputs.map(({ sequence }) => integer(sequence, 4))));
  const outputs = doubleSha256(Buffer.concat(spend.outputs.map(outputBytes)));
  return spend.inputs.map((input) =>
    doubleSha256(
      Buffer.concat([
        integer(spend.version, 4),
        outpoints,
        sequences,
        outpointBytes(input),
        sized(Buffer.from(`76a914${input.spent.script.slice(4)}88ac`, 'hex')),
        amountBytes(input.spent.rawAmount),
        integer(input.sequence, 4),
        outputs,
        integer(spend.lockTime, 4),
        integer(SIGHASH_ALL, 4),
      ]),
    ),
  );
}

/** Amount and script of an output, as transactions and PSBT write them. */
export function outputBytes({ rawAmount, script }: NewOutput): Buffer {
  return Buffer.concat([amountBytes(rawAmount), sized(Buffer.from(script, 'hex'))]);
}

export function witnessBytes(witness: readonly Uint8Array[]): Buffer {
  return Buffer.concat([count(witness.length), ...witness.map(sized)]);
}

/** Bytes after their count. */
export function sized(bytes: Uint8Array): Buffer {
  return Buffer.concat([count(bytes.length), bytes]);
}

function bodyOf({ inputs, outputs }: Spend): Buffer[] {
  return [
    count(inputs.length),
    ...inputs.map((input) => Buffer.concat([outpointBytes(input), count(0), integer(input.sequence, 4)])),
    count(outputs.length),
    ...outputs.map(outputBytes),
  ];
}

function outpointBytes({ txid, vout }: SpentOutput): Buffer {
  return Buffer.concat([Buffer.from(txid, 'hex').reverse(), integer(vout, 4)]);
}

function amountBytes(rawAmount: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(rawAmount);
  return bytes;
}

function integer(value: number, size: 2 | 4): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntLE(value, 0, size);
  return bytes;
}

/** A count in one, three or five bytes, whichever is the shortest. */
function count(value: number): Buffer {
  if (value < 0xfd) return Buffer.of(value);
  return value <= 0xffff ? Buffer.concat([Buffer.of(0xfd), integer(value, 2)]) : Buffer.concat([Buffer.of(0xfe), integer(value, 4)]);
}

function doubleSha256(bytes: Uint8Array): Buffer {
  return hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer');
}

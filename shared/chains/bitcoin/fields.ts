import { Invariant } from '#shared/core/errors.ts';
import type { OwnOutput } from '../chain.ts';

/** What a plan on Bitcoin says beside the transfer: which outputs it spends, the anchor first, and what comes back where. */
export interface BitcoinFields {
  inputs: OwnOutput[];
  change: { rawAmount: bigint; address: string } | null;
}

/** All there will ever be. */
const MOST_SATOSHIS = 21n * 10n ** 14n;
const LARGEST_VOUT = 0xffff_ffff;
const INPUT = /^([0-9a-f]{64}):(0|[1-9]\d{0,9}):([1-9]\d{0,15}):([0-9A-Za-z]{14,90})$/;
const CHANGE = /^([1-9]\d{0,15}):([0-9A-Za-z]{14,90})$/;

export function writeFields({ inputs, change }: BitcoinFields): Record<string, string> {
  return {
    inputs: inputs.map(({ txid, vout, rawAmount, address }) => `${txid}:${vout}:${rawAmount}:${address}`).join(','),
    change: change === null ? '' : `${change.rawAmount}:${change.address}`,
  };
}

/** Reads the fields of a plan. @throws Invariant when they are not exactly what `writeFields` makes, or name an output twice */
export function readFields(fields: Record<string, string>): BitcoinFields {
  const { inputs, change, ...others } = fields;
  if (inputs === undefined || change === undefined || Object.keys(others).length > 0) throw new Invariant('the plan does not say what it spends');
  const read = { inputs: inputs.split(',').map(readInput), change: readChange(change) };
  if (new Set(read.inputs.map(outpointOf)).size !== read.inputs.length) throw new Invariant('the plan spends an output twice');
  return read;
}

/** `txid:vout`, as the books name an output. */
export function outpointOf({ txid, vout }: Pick<OwnOutput, 'txid' | 'vout'>): string {
  return `${txid}:${vout}`;
}

function readInput(text: string): OwnOutput {
  const [, txid, vout, rawAmount, address] = INPUT.exec(text) ?? [];
  if (txid === undefined || address === undefined || Number(vout) > LARGEST_VOUT)
    throw new Invariant(`the plan spends what is no output: ${text.slice(0, 200)}`);
  return { txid, vout: Number(vout), rawAmount: readSatoshis(rawAmount), address };
}

function readChange(text: string): BitcoinFields['change'] {
  if (text === '') return null;
  const [, rawAmount, address] = CHANGE.exec(text) ?? [];
  if (address === undefined) throw new Invariant(`the plan has a change that is none: ${text.slice(0, 200)}`);
  return { rawAmount: readSatoshis(rawAmount), address };
}

function readSatoshis(text: string | undefined): bigint {
  const value = BigInt(text ?? '0');
  if (value > MOST_SATOSHIS) throw new Invariant('the plan names more coins than there are');
  return value;
}

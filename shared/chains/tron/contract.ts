import { type ReadField, readFields } from './protobuf.ts';

/** What a transaction does with its owner's own TRX, read from its bytes alone. */
export interface ContractFacts {
  /** java-tron's `ContractType`. */
  type: number;
  /** 40 hex digits; null where the type has no owner this build knows of. */
  owner: string | null;
  /** The owner's own TRX that it passes on, when it succeeds: a plain transfer, or the value of a contract call. */
  value: { recipient: string; rawAmount: bigint } | null;
}

export const TRANSFER = 1;
export const CREATE = 30;
export const TRIGGER = 31;

const NAMES: Record<number, string> = { [TRANSFER]: 'TransferContract', [TRIGGER]: 'TriggerSmartContract' };
/** `TransferAssetContract`, `AccountUpdateContract` and `SetAccountIdContract` name their owner second. */
const OWNER_IS_SECOND = new Set([2, 10, 19]);
const ADDRESS_BYTES = 21;
const ADDRESS_PREFIX = 0x41;
const LARGEST_AMOUNT = 2n ** 63n - 1n;

/** The name under which a transaction of this type appears in JSON, for the types whose value counts. */
export function contractName(type: number): string | undefined {
  return NAMES[type];
}

/**
 * Reads `raw_data` bytes. The JSON beside them is the node's own retelling, so nothing is credited from it. Undefined when
 * the bytes are not those of a transaction with exactly one contract. The parameter is read as java-tron reads it, not as its own
 * software writes it: a sender may repeat fields, add ones nobody knows and pad numbers, and the block is valid all the same.
 */
export function readContract(rawData: Uint8Array): ContractFacts | undefined {
  const contracts = readFields(rawData)?.flatMap(({ number, value }) => (number === 11 && value instanceof Uint8Array ? [value] : []));
  const contract = message(contracts?.length === 1 ? contracts[0] : undefined);
  const any = message(contract?.bytes(2));
  if (contract === undefined || any === undefined) return undefined;
  const type = Number(contract.integer(1));
  const name = NAMES[type];
  if (
    name !== undefined &&
    !Buffer.from(any.bytes(1) ?? [])
      .toString()
      .endsWith(`/protocol.${name}`)
  )
    return undefined;
  const parameter = message(any.bytes(2) ?? new Uint8Array());
  if (parameter === undefined) return name === undefined ? { type, owner: null, value: null } : undefined;
  const owner = address(parameter.bytes(OWNER_IS_SECOND.has(type) ? 2 : 1)) ?? null;
  if (name === undefined) return { type, owner, value: null };
  const recipient = address(parameter.bytes(2));
  const rawAmount = parameter.integer(3);
  if (owner === null || recipient === undefined || rawAmount > LARGEST_AMOUNT) return undefined;
  return { type, owner, value: rawAmount === 0n ? null : { recipient, rawAmount } };
}

interface Message {
  /** Zero when there is none. */
  integer(number: number): bigint;
  bytes(number: number): Uint8Array | undefined;
}

/**
 * Fields by number and kind, the last of each as protobuf has it: one of another kind under a known number is a field nobody
 * knows, and changes nothing. Undefined when the bytes are no message.
 */
function message(bytes: Uint8Array | undefined): Message | undefined {
  const fields = bytes && readFields(bytes);
  if (fields === undefined) return undefined;
  const last = <T>(number: number, of: (value: ReadField['value']) => value is ReadField['value'] & T): T | undefined => {
    for (let i = fields.length - 1; i >= 0; i--) {
      const field = fields[i] as ReadField;
      if (field.number === number && of(field.value)) return field.value;
    }
    return undefined;
  };
  return {
    integer: (number) => last(number, (value): value is bigint => typeof value === 'bigint') ?? 0n,
    bytes: (number) => last(number, (value): value is Uint8Array => value instanceof Uint8Array),
  };
}

function address(value: Uint8Array | undefined): string | undefined {
  if (value === undefined || value.length !== ADDRESS_BYTES || value[0] !== ADDRESS_PREFIX) return undefined;
  return Buffer.from(value.subarray(1)).toString('hex');
}

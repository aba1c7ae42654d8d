import { fromHex, type Hex, hexToText, parseAddress, textToHex, toBase58, toHex } from './bytes.ts';
import { readFields, type WireField, writeFields } from './protobuf.ts';

/** How a field is written in JSON; `name` is text when `visible`, hex otherwise. */
type Kind = 'int' | 'bool' | 'bytes' | 'address' | 'name' | 'resource';

interface FieldRule {
  number: number;
  name: string;
  kind: Kind;
}

/** A flat message in the form nodes print with `visible` false: hex without 0x, defaults left out. */
export type Message = Record<string, bigint | boolean | string>;

const field = (number: number, name: string, kind: Kind): FieldRule => ({ number, name, kind });

/** The contracts this node reads, by name, with their number in `ContractType` (Tron.proto). */
const CONTRACTS: Record<string, { type: bigint; fields: FieldRule[] }> = {
  AccountCreateContract: { type: 0n, fields: [field(1, 'owner_address', 'address'), field(2, 'account_address', 'address'), field(3, 'type', 'int')] },
  TransferContract: { type: 1n, fields: [field(1, 'owner_address', 'address'), field(2, 'to_address', 'address'), field(3, 'amount', 'int')] },
  TransferAssetContract: {
    type: 2n,
    fields: [field(1, 'asset_name', 'name'), field(2, 'owner_address', 'address'), field(3, 'to_address', 'address'), field(4, 'amount', 'int')],
  },
  TriggerSmartContract: {
    type: 31n,
    fields: [
      field(1, 'owner_address', 'address'),
      field(2, 'contract_address', 'address'),
      field(3, 'call_value', 'int'),
      field(4, 'data', 'bytes'),
      field(5, 'call_token_value', 'int'),
      field(6, 'token_id', 'int'),
    ],
  },
  FreezeBalanceV2Contract: {
    type: 54n,
    fields: [field(1, 'owner_address', 'address'), field(2, 'frozen_balance', 'int'), field(3, 'resource', 'resource')],
  },
  DelegateResourceContract: {
    type: 57n,
    fields: [
      field(1, 'owner_address', 'address'),
      field(2, 'resource', 'resource'),
      field(3, 'balance', 'int'),
      field(4, 'receiver_address', 'address'),
      field(5, 'lock', 'bool'),
      field(6, 'lock_period', 'int'),
    ],
  },
};

const NAMES = new Map(Object.entries(CONTRACTS).map(([name, { type }]) => [type, name]));
const RESOURCES = ['BANDWIDTH', 'ENERGY', 'TRON_POWER'];

/** Number of a contract type by its name. @throws Error for a type this node does not read */
export function contractNumber(name: string): bigint {
  const contract = CONTRACTS[name];
  if (!contract) throw new Error(`No enum constant org.tron.protos.Protocol.Transaction.Contract.ContractType.${name}`);
  return contract.type;
}

export function contractName(type: bigint): string | null {
  return NAMES.get(type) ?? null;
}

/** Reads the parameter of a contract. @throws Error when the bytes are no such message */
export function decodeContract(name: string, bytes: Uint8Array): Message {
  const wire = new Map(readFields(bytes).map((each) => [each.number, each.value]));
  const message: Message = {};
  for (const rule of rules(name)) {
    const value = wire.get(rule.number);
    if (value === undefined) continue;
    if (typeof value !== 'bigint') message[rule.name] = toHex(value);
    else if (rule.kind === 'bool') message[rule.name] = value !== 0n;
    else if (rule.kind === 'resource') message[rule.name] = RESOURCES[Number(value)] ?? 'BANDWIDTH';
    else message[rule.name] = value;
  }
  return message;
}

export function encodeContract(name: string, message: Message): Uint8Array {
  const wire: WireField[] = [];
  for (const rule of rules(name)) {
    const value = message[rule.name];
    if (value === undefined || value === '' || value === 0n || value === false) continue;
    if (rule.kind === 'resource') {
      const number = BigInt(Math.max(0, RESOURCES.indexOf(String(value))));
      if (number > 0n) wire.push({ number: rule.number, value: number });
    } else if (rule.kind === 'int') wire.push({ number: rule.number, value: BigInt(value) });
    else if (rule.kind === 'bool') wire.push({ number: rule.number, value: 1n });
    else wire.push({ number: rule.number, value: fromHex(String(value)) });
  }
  return writeFields(wire);
}

/** The message as it is printed: addresses in base58 and names as text when `visible`. */
export function printContract(name: string, message: Message, visible: boolean): Message {
  if (!visible) return message;
  return mapFields(name, message, (rule, value) => (rule.kind === 'address' ? toBase58(value) : rule.kind === 'name' ? hexToText(value) : value));
}

/** The message in its inner form from what a client wrote. @throws Error when an address is none */
export function parseContract(name: string, message: Message, visible: boolean): Message {
  const known = mapFields(name, message, (rule, value) => {
    if (rule.kind === 'name' && visible) return textToHex(value);
    if (rule.kind !== 'address') return value;
    // A node takes any bytes here and refuses them later by their meaning; only base58 must decode.
    return visible ? (parseAddress(value) ?? '') : value.toLowerCase();
  });
  return known;
}

function mapFields(name: string, message: Message, change: (rule: FieldRule, value: Hex) => string): Message {
  const mapped: Message = {};
  for (const rule of rules(name)) {
    const value = message[rule.name];
    if (value === undefined) continue;
    mapped[rule.name] = typeof value === 'string' ? change(rule, value) : value;
  }
  return mapped;
}

function rules(name: string): FieldRule[] {
  contractNumber(name);
  return CONTRACTS[name]?.fields ?? [];
}

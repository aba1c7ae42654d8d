import { type Hex, toHex } from './bytes.ts';
import { encodeContract, type Message, parseContract, printContract } from './messages.ts';
import { type BuiltContract, buildWith, type Transaction, typeUrl } from './transaction.ts';

/** The `raw_data` object as nodes print it; defaults left out. */
export function printRaw(transaction: Transaction, visible: boolean): Record<string, unknown> {
  return {
    ...(transaction.data && { data: transaction.data }),
    contract: transaction.contracts.flatMap(({ name, message, permissionId }) =>
      name === null
        ? []
        : [
            {
              parameter: { value: printContract(name, message, visible), type_url: typeUrl(name) },
              type: name,
              ...(permissionId > 0n && { Permission_id: Number(permissionId) }),
            },
          ],
    ),
    ref_block_bytes: transaction.refBlockBytes,
    ref_block_hash: transaction.refBlockHash,
    ...(transaction.expiration !== 0n && { expiration: transaction.expiration }),
    ...(transaction.feeLimit !== 0n && { fee_limit: transaction.feeLimit }),
    ...(transaction.timestamp !== 0n && { timestamp: transaction.timestamp }),
  };
}

/** The whole transaction as plain protobuf JSON, the parameter as bytes: what `broadcasthex` answers with. */
export function printProtobuf(transaction: Transaction): Record<string, unknown> {
  const contract = transaction.contracts.flatMap(({ name, message }) =>
    name === null ? [] : [{ type: name, parameter: { type_url: typeUrl(name), value: toHex(encodeContract(name, message)) } }],
  );
  return { raw_data: { ...printRaw(transaction, true), contract }, signature: transaction.signatures };
}

/**
 * The transaction a client wrote as JSON. A node builds it from `raw_data` and takes neither `txID` nor `raw_data_hex` at their
 * word; a contract it cannot read is dropped.
 * @throws Error as a node does, for its `{"Error": …}` answer
 */
export function fromJson(json: Record<string, unknown>): Transaction {
  const visible = json.visible === true;
  const raw = json.raw_data as Record<string, unknown> | undefined;
  if (!raw || !Array.isArray(raw.contract)) throw new Error('class java.lang.NullPointerException : null');
  const hex = (name: string): Hex => String(raw[name] ?? '').toLowerCase();
  const int = (name: string): bigint => BigInt((raw[name] ?? 0) as bigint);
  const built = buildWith(readContracts(raw.contract as Record<string, unknown>[], visible), {
    refBlockBytes: hex('ref_block_bytes'),
    refBlockHash: hex('ref_block_hash'),
    expiration: int('expiration'),
    timestamp: int('timestamp'),
    feeLimit: int('fee_limit'),
    data: hex('data'),
  });
  const signatures = (json.signature ?? []) as Hex[];
  return { ...built, signatures: signatures.map((each) => each.replace(/^0x/, '').toLowerCase()) };
}

function readContracts(contracts: Record<string, unknown>[], visible: boolean): BuiltContract[] {
  return contracts.flatMap((contract) => {
    const name = String(contract.type);
    const value = (contract.parameter as Record<string, unknown> | undefined)?.value as Message;
    try {
      return [{ name, message: parseContract(name, value, visible), permissionId: BigInt((contract.Permission_id ?? 0) as bigint) }];
    } catch {
      return [];
    }
  });
}

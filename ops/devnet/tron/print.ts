import { BLOCK_VERSION, type Block, type Included, producerAddress, producerSignature } from './block.ts';
import { type Hex, textToHex, toBase58 } from './bytes.ts';
import type { Internal } from './machine.ts';
import type { Log } from './token.ts';
import type { Transaction } from './transaction.ts';
import { printRaw } from './transaction-json.ts';

/** JSON as nodes print it from protobuf: keys that hold a default value are left out (chains 3.2). */
export type Json = Record<string, unknown>;

/** Drops what protobuf JSON leaves out: zero, false, empty text, absent. */
export function sparse(json: Json): Json {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined && value !== 0n && value !== 0 && value !== false && value !== ''));
}

export function printAddress(hex41: Hex, visible: boolean): string {
  return visible && hex41 !== '' ? toBase58(hex41) : hex41;
}

export function printBlock(block: Block, visible: boolean, detail = true): Json {
  return {
    blockID: block.id,
    block_header: {
      raw_data: sparse({
        number: BigInt(block.number),
        txTrieRoot: block.txTrieRoot,
        witness_address: printAddress(producerAddress(block.producer), visible),
        parentHash: block.parentId,
        version: Number(BLOCK_VERSION),
        timestamp: block.timestamp,
      }),
      witness_signature: producerSignature(block),
    },
    ...(detail && block.included.length > 0 && { transactions: block.included.map((each) => printIncluded(each, visible)) }),
  };
}

export function printIncluded({ transaction, effects }: Included, visible: boolean): Json {
  return { ret: [{ contractRet: effects.contractRet }], ...printTransaction(transaction, visible) };
}

export function printTransaction(transaction: Transaction, visible: boolean): Json {
  return {
    ...(transaction.signatures.length > 0 && { signature: transaction.signatures }),
    txID: transaction.txid,
    raw_data: printRaw(transaction, visible),
    raw_data_hex: transaction.rawHex,
  };
}

/** What a transaction did, as `gettransactioninfobyid` prints it; `internals` false as on a node that does not save them. */
export function printInfo(block: Block, { transaction, effects }: Included, visible: boolean, internals: boolean): Json {
  const { call } = effects;
  const failed = effects.contractRet !== 'SUCCESS';
  return {
    id: transaction.txid,
    ...sparse({ fee: effects.fee, blockNumber: BigInt(block.number), blockTimeStamp: block.timestamp }),
    contractResult: [call?.returns ?? ''],
    ...(call && { contract_address: printAddress(call.contract, visible) }),
    receipt: sparse({
      energy_usage: call?.energyUsage,
      energy_fee: call?.energyFee,
      energy_usage_total: call?.energyTotal,
      energy_penalty_total: call?.energyPenalty,
      net_usage: effects.netUsage,
      net_fee: effects.netFee,
      result: call ? effects.contractRet : undefined,
    }),
    ...(effects.logs.length > 0 && { log: effects.logs.map((log) => printLog(log, visible)) }),
    ...(failed && { result: 'FAILED' }),
    ...(failed && call && call.message !== '' && { resMessage: visible ? call.message : textToHex(call.message) }),
    ...(internals && effects.internals.length > 0 && { internal_transactions: effects.internals.map((each) => printInternal(each, visible)) }),
  };
}

/** Bare 20-byte address, or base58 when visible. */
export function printLog(log: Log, visible: boolean): Json {
  return {
    address: visible ? toBase58(log.address) : log.address.slice(2),
    ...(log.topics.length > 0 && { topics: log.topics }),
    ...sparse({ data: log.data }),
  };
}

export function printInternal(internal: Internal, visible: boolean): Json {
  return {
    hash: internal.hash,
    caller_address: printAddress(internal.caller, visible),
    transferTo_address: printAddress(internal.to, visible),
    callValueInfo: internal.values.map(({ sun, tokenId }) => sparse({ callValue: sun, tokenId })),
    ...sparse({ note: textToHex(internal.note), rejected: internal.rejected }),
  };
}

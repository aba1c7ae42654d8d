import { transferData } from './abi.ts';
import { type Hex, parseAddress, toHex } from './bytes.ts';
import { TRON_FAUCET } from './demo.ts';
import { addressOfKey, build, bytesOf, type RawFields, sign, type Transaction } from './transaction.ts';

const EXPIRATION_MS = 60_000;
/** Enough for any transfer of a token; what is not used is not paid. */
const FEE_LIMIT = 100_000_000n;

/** A payment somebody makes on a local chain. */
export interface LocalPayment {
  to: string;
  /** Null is TRX. */
  contract: string | null;
  /** Sun or the token's smallest units. */
  raw: bigint;
  /** Who pays; the faucet when absent. */
  privateKey?: Hex;
  feeLimit?: bigint;
}

/** Two payments of one amount to one address would be one transaction: the time they name tells them apart. */
let built = 0n;

type Reference = Pick<RawFields, 'refBlockBytes' | 'refBlockHash' | 'expiration' | 'timestamp'>;

/**
 * What a transaction built now says about its place: the solidified block, so that it survives every reorganisation, and a
 * minute to be included. Fetched from the node at `url`.
 */
export async function referenceNow(url: string): Promise<Reference> {
  const [head, solid] = await Promise.all(['wallet', 'walletsolidity'].map((side) => post(url, `${side}/getnowblock`, {})));
  built += 1n;
  const id = String(solid?.blockID);
  const time = Number((head as { block_header: { raw_data: { timestamp: number } } }).block_header.raw_data.timestamp);
  return { refBlockBytes: id.slice(12, 16), refBlockHash: id.slice(16, 32), expiration: BigInt(time + EXPIRATION_MS), timestamp: BigInt(time) + built };
}

/** Signs a payment without sending it. */
export async function signPayment(url: string, payment: LocalPayment): Promise<Transaction> {
  const key = payment.privateKey ?? TRON_FAUCET.privateKey;
  const owner_address = addressOfKey(key);
  const to_address = hexOf(payment.to);
  const contract =
    payment.contract === null
      ? { name: 'TransferContract', message: { owner_address, to_address, amount: payment.raw } }
      : {
          name: 'TriggerSmartContract',
          message: { owner_address, contract_address: hexOf(payment.contract), data: transferData(to_address, payment.raw) },
        };
  const feeLimit = payment.contract === null ? 0n : (payment.feeLimit ?? FEE_LIMIT);
  return sign(build({ contract, feeLimit, ...(await referenceNow(url)) }), key);
}

/** Hands a signed transaction to the node and answers its id. @throws Error with the node's code and words when it refuses */
export async function broadcast(url: string, transaction: Transaction): Promise<Hex> {
  const answer = await post(url, 'wallet/broadcasthex', { transaction: toHex(bytesOf(transaction)) });
  if (answer.result !== true) throw new Error(`${answer.code ?? answer.Error}: ${answer.message ?? ''}`);
  return transaction.txid;
}

/** Pays on a local chain, from the faucet unless told otherwise; the transaction waits for the next block. */
export async function payLocally(url: string, payment: LocalPayment): Promise<Hex> {
  return broadcast(url, await signPayment(url, payment));
}

/** Calls a contract with raw calldata, from the faucet unless told otherwise. */
export async function callLocally(url: string, call: { contract: string; data?: Hex; callValue?: bigint; privateKey?: Hex; feeLimit?: bigint }): Promise<Hex> {
  const key = call.privateKey ?? TRON_FAUCET.privateKey;
  const message = { owner_address: addressOfKey(key), contract_address: hexOf(call.contract), data: call.data ?? '', call_value: call.callValue ?? 0n };
  const contract = { name: 'TriggerSmartContract', message };
  return broadcast(url, sign(build({ contract, feeLimit: call.feeLimit ?? FEE_LIMIT, ...(await referenceNow(url)) }), key));
}

async function post(url: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(path, url), { method: 'POST', body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
}

function hexOf(address: string): Hex {
  const hex = parseAddress(address);
  if (hex === null) throw new Error(`${address} is no address`);
  return hex;
}

import { Invariant } from '#shared/core/errors.ts';
import type { DecodedTransfer, SigningRequest, TransferSigner } from '../chain.ts';
import { openSeed } from '../seed-keys.ts';
import { addressOfPublicKey } from '../evm/deriver.ts';
import { toBase58 } from './address.ts';
import { decodeTronTransfer } from './decode.ts';
import { encodeSigned, readFields, TRANSFER_FUNCTION } from './transaction.ts';

/** tronweb asks for a node when it is made; nothing here ever speaks to one. */
const NO_NODE = 'http://127.0.0.1:1';

/**
 * Signs TRON transfers with keys below a BIP-39 seed; only the signer role constructs it. Transactions are built here, from
 * the plan alone: no node is asked for anything, so that none can put in another transaction (chains 3.1).
 * @throws Error when the seed is not a valid mnemonic; the message never holds the seed
 */
export function tronSigner(_network: { chainId: string }, mnemonic: string): TransferSigner {
  const keys = openSeed(mnemonic);
  return {
    addressAt: (path) => toBase58(addressOfPublicKey(keys.at(path).publicKey as Uint8Array)),
    xpubAt: (path) => keys.at(path).publicExtendedKey,
    async sign(path, request) {
      const key = keys.at(path);
      if (toBase58(addressOfPublicKey(key.publicKey as Uint8Array)) !== request.intent.sender)
        throw new Invariant('the signed bytes differ from the request in their sender');
      const signedBytes = await build(Buffer.from(key.privateKey as Uint8Array).toString('hex'), request).catch((cause: unknown) => {
        throw cause instanceof Invariant ? cause : new Invariant('the request cannot be built into a transaction', { cause });
      });
      const decoded = await decodeTronTransfer(signedBytes);
      compare(request, decoded);
      return { txid: decoded.txid, signedBytes, rawFeeLimit: decoded.rawFeeLimit, expiresAtMs: decoded.expiresAtMs };
    },
  };
}

/** Builds and signs with tronweb, which is loaded only where something is signed. */
async function build(privateKey: string, { intent, nonce, fields }: SigningRequest): Promise<Uint8Array> {
  if (nonce !== null) throw new Invariant('a TRON transaction has no nonce');
  const { refBlockBytes, refBlockHash, expirationMs, timestampMs, feeLimit } = readFields(fields);
  const { TronWeb } = await import('tronweb');
  const tronWeb = new TronWeb({ fullHost: NO_NODE });
  const options = {
    txLocal: true,
    blockHeader: { ref_block_bytes: refBlockBytes, ref_block_hash: refBlockHash, expiration: Number(expirationMs), timestamp: Number(timestampMs) },
  };
  const { sender, recipient, contract, rawAmount } = intent;
  if (rawAmount <= 0n) throw new Invariant('a transfer moves something');
  const unsigned =
    contract === null
      ? await tronWeb.transactionBuilder.sendTrx(recipient, exactNumber(rawAmount), sender, options)
      : (
          await tronWeb.transactionBuilder.triggerSmartContract(
            contract,
            TRANSFER_FUNCTION,
            { ...options, feeLimit: exactNumber(feeLimit), callValue: 0 },
            [
              { type: 'address', value: recipient },
              { type: 'uint256', value: rawAmount.toString() },
            ],
            sender,
          )
        ).transaction;
  const signed = await tronWeb.trx.sign(unsigned, privateKey);
  if (signed.signature.length !== 1) throw new Invariant('the transaction does not carry one signature');
  return encodeSigned(Buffer.from(signed.raw_data_hex, 'hex'), Buffer.from(signed.signature[0] as string, 'hex'));
}

/** tronweb takes numbers; what one cannot hold exactly (nine thousand million TRX) is not sent at all. */
function exactNumber(sun: bigint): number {
  if (sun > Number.MAX_SAFE_INTEGER) throw new Invariant('the amount is too large to be written exactly');
  return Number(sun);
}

/** Refuses bytes that are not exactly the request; called on what was signed, never on what was meant to be signed. */
export function compare({ intent, nonce, fields }: SigningRequest, decoded: DecodedTransfer): void {
  const pairs: [string, unknown, unknown][] = [
    ['sender', decoded.sender, intent.sender],
    ['recipient', decoded.recipient, intent.recipient],
    ['contract', decoded.contract, intent.contract],
    ['amount', decoded.rawAmount, intent.rawAmount],
    ['nonce', decoded.nonce, nonce],
    ...Object.keys(decoded.fields).map((name): [string, unknown, unknown] => [name, decoded.fields[name], fields[name]]),
  ];
  for (const [name, made, asked] of pairs) if (made !== asked) throw new Invariant(`the signed bytes differ from the request in their ${name}`);
}

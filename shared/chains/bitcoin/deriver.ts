import { HDKey } from '@scure/bip32';
import { crypto } from 'bitcoinjs-lib';
import type { Deriver } from '../chain.ts';
import { publicChildren } from '../public-children.ts';
import { base58check } from './base58.ts';
import { type BitcoinParams, bitcoinParams } from './params.ts';
import { witnessAddress } from './script.ts';

/** What the first bytes of an extended public key stand for (BIP-32, SLIP-132). */
interface KeyPrefix {
  text: string;
  network: 'mainnet' | 'test networks';
  /** Why accounts with it are not for P2WPKH addresses; null when they are. */
  other: string | null;
}

const PLAIN = 0x0488b21e;
const NESTED = 'segwit wrapped in P2SH (BIP-49)';
const SHARED = 'addresses of several keys';
const PUBLIC: Readonly<Record<number, KeyPrefix>> = {
  76067358: { text: 'xpub', network: 'mainnet', other: null },
  78792518: { text: 'zpub', network: 'mainnet', other: null },
  77429938: { text: 'ypub', network: 'mainnet', other: NESTED },
  43365439: { text: 'Ypub', network: 'mainnet', other: SHARED },
  44728019: { text: 'Zpub', network: 'mainnet', other: SHARED },
  70617039: { text: 'tpub', network: 'test networks', other: null },
  73342198: { text: 'vpub', network: 'test networks', other: null },
  71979618: { text: 'upub', network: 'test networks', other: NESTED },
  37915119: { text: 'Upub', network: 'test networks', other: SHARED },
  39277699: { text: 'Vpub', network: 'test networks', other: SHARED },
};
const PRIVATE = new Set([0x0488ade4, 0x04b2430c, 0x049d7878, 0x0295b005, 0x02aa7a99, 0x04358394, 0x045f18bc, 0x044a4e28, 0x024285b5, 0x02575048]);

/**
 * Derives P2WPKH deposit addresses at /0/index below the extended public key of an account (BIP-84); nothing here can sign.
 * Plain prefixes (xpub, tpub) and those of SLIP-132 for such accounts (zpub, vpub) say the same.
 * @throws Error when the text is a private key, is made for another network or another kind of address, or is no extended key
 */
export function bitcoinDeriver(accountXpub: string, chainId: string): Deriver {
  const params = bitcoinParams(chainId);
  const account = HDKey.fromExtendedKey(accountXpub, { public: checkedVersion(accountXpub, params, chainId), private: 0 });
  if (account.privateKey !== null) throw new Error('the account key must be an xpub; this one is private');
  const receiving = publicChildren(account.deriveChild(0), true);
  return {
    fingerprint: account.fingerprint.toString(16).padStart(8, '0'),
    depositAddress: (index) => addressOfPublicKey(receiving(index), params),
  };
}

/**
 * The same extended key written with the prefix of BIP-32 (`xpub`), whatever prefix its text has; two texts of one key are
 * then equal. @throws Error when it is no extended public key of Bitcoin
 */
export function plainXpub(extendedKey: string): string {
  const bytes = base58check.decode(extendedKey);
  const version = versionOf(bytes);
  if (PUBLIC[version] === undefined) throw new Error('not an extended public key of Bitcoin');
  const plain = Uint8Array.from(bytes);
  new DataView(plain.buffer).setUint32(0, PLAIN);
  return base58check.encode(plain);
}

/** P2WPKH address of a compressed public key. */
export function addressOfPublicKey(compressed: Uint8Array, params: Pick<BitcoinParams, 'hrp'>): string {
  return witnessAddress(0, crypto.hash160(compressed), params.hrp);
}

function checkedVersion(accountXpub: string, params: BitcoinParams, chainId: string): number {
  let bytes: Uint8Array;
  try {
    bytes = base58check.decode(accountXpub);
  } catch {
    throw new Error('the account key is no extended public key: its text or checksum is wrong');
  }
  const version = versionOf(bytes);
  if (PRIVATE.has(version)) throw new Error('the account key must be an xpub; this one is private');
  const prefix = PUBLIC[version];
  if (prefix === undefined) throw new Error('the account key is no extended public key of Bitcoin');
  if (prefix.other !== null)
    throw new Error(`the account key is a ${prefix.text}, for ${prefix.other}; deposit addresses are plain segwit: give a zpub or vpub (BIP-84)`);
  const here = params.hrp === 'bc' ? 'mainnet' : 'test networks';
  if (prefix.network !== here) throw new Error(`the account key is a ${prefix.text}, for Bitcoin's ${prefix.network}, and this network is ${chainId}`);
  return version;
}

function versionOf(bytes: Uint8Array): number {
  return bytes.length === 78 ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) : -1;
}

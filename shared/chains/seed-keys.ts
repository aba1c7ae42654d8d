import { pbkdf2Sync } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { Invariant } from '#shared/core/errors.ts';

const PATH = /^m(\/\d{1,10}'?){1,10}$/;
/** How many accounts' nodes are kept; a deployment has a handful of wallets in each network. */
const KEPT_ACCOUNTS = 256;

export interface SeedKeys {
  /** The key at a path such as `m/44'/60'/0'/0/7` (BIP-32). @throws Invariant when the path is malformed */
  at(path: string): HDKey;
}

/**
 * Opens a BIP-39 seed, to find keys by their paths. Only code that signs constructs it.
 * The node above a key is derived once and kept, because neighbouring keys differ only in their last step, and a payment that spends a hundred
 * deposits needs a hundred keys. `versions` are the bytes that extended keys begin with; without them Bitcoin mainnet's `xpub` and `xprv`.
 * @throws Error when the seed is not a valid mnemonic; the message never holds the seed
 */
export function openSeed(mnemonic: string, versions?: { public: number; private: number }): SeedKeys {
  if (!validateMnemonic(mnemonic, wordlist)) throw new Error('the signer seed is not a valid BIP-39 mnemonic');
  const root = HDKey.fromMasterSeed(seedOf(mnemonic), versions);
  const kept = new Map<string, HDKey>();
  const above = (path: string): HDKey => {
    if (path === 'm') return root;
    const node = kept.get(path) ?? root.derive(path);
    if (kept.size < KEPT_ACCOUNTS) kept.set(path, node);
    return node;
  };
  return {
    at(path) {
      if (!PATH.test(path)) throw new Invariant(`not a derivation path: ${path}`);
      const lastStep = path.lastIndexOf('/');
      return above(path.slice(0, lastStep)).derive(`m${path.slice(lastStep)}`);
    },
  };
}

/** The bytes that a mnemonic without a passphrase stands for (BIP-39). In JavaScript its 2,048 rounds take many times as long. */
function seedOf(mnemonic: string): Uint8Array {
  return pbkdf2Sync(mnemonic.normalize('NFKD'), 'mnemonic', 2_048, 64, 'sha512');
}

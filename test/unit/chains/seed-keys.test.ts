import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { describe, expect, it } from 'vitest';
import { openSeed } from '#shared/chains/seed-keys.ts';
import { TEST_SEED } from '../../harness/world.ts';

const MAINNET_SEGWIT = { public: 0x04b24746, private: 0x04b2430c };
const PATHS = [
  "m/44'/60'/0'/0/0",
  "m/44'/60'/0'/0/1",
  "m/44'/60'/0'/1/0",
  "m/84'/0'/0'/0/2147483647",
  "m/44'/195'/0'",
  "m/44'/195'/1'",
  'm/7',
  "m/7'",
  'm/1/2/3/4/5/6/7/8/9/10',
];

describe('the keys below a seed', () => {
  it.each([undefined, MAINNET_SEGWIT])('are those that each path gives from the root, whatever was asked before (%o)', (versions) => {
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(TEST_SEED), versions);
    const keys = openSeed(TEST_SEED, versions);
    for (const path of [...PATHS, ...PATHS.toReversed()]) expect(keys.at(path).privateExtendedKey, path).toBe(root.derive(path).privateExtendedKey);
  });

  it('are the same past the number of accounts whose node is kept', () => {
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(TEST_SEED));
    const keys = openSeed(TEST_SEED);
    for (let account = 0; account < 300; account += 1) keys.at(`m/${account}/0`);
    for (const path of ['m/0/1', 'm/299/1', 'm/300/1']) expect(keys.at(path).privateExtendedKey, path).toBe(root.derive(path).privateExtendedKey);
  });

  it.each(['', 'm', 'm/', '44/60', "m/44'/60'/0'/0/x", 'm//1', 'm/1/', `m${'/1'.repeat(11)}`, 'm/12345678901'])('are not found at %j', (path) => {
    expect(() => openSeed(TEST_SEED).at(path)).toThrow('not a derivation path');
  });

  it('are refused for a seed that is no mnemonic, without saying it', () => {
    expect(() => openSeed('abandon abandon')).toThrow(/^the signer seed is not a valid BIP-39 mnemonic$/);
  });
});

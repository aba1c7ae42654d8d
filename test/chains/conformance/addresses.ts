import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { describe, expect, it } from 'vitest';
import { codecOf, openDeriver } from '#shared/chains/codecs.ts';
import { openSigner } from '#shared/chains/signers.ts';
import type { Deriver } from '#shared/chains/chain.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import type { FamilyDriver } from './family.ts';

/** Indexes at which a mistake in the arithmetic of a path would show. */
const INDEXES = [0, 1, 7, 255, 256, 65_536, 2 ** 31 - 1];

/** Derivation and address text: what a family says of them without any node. */
export function describeAddresses(driver: FamilyDriver): void {
  const { family, corpus } = driver;

  describe('deposit addresses', () => {
    it.each(driver.published)('of a published mnemonic are the published ones, from the xpub alone', ({ mnemonic, accountPath, addresses }) => {
      const deriver = deriverOf(driver, mnemonic, accountPath);
      for (const [index, address] of Object.entries(addresses)) expect(deriver.depositAddress(Number(index))).toBe(address);
    });

    it.each(driver.published)('are what another library derives from the mnemonic, at small and large indexes', async ({ mnemonic, accountPath }) => {
      const deriver = deriverOf(driver, mnemonic, accountPath);
      for (const index of INDEXES) expect(deriver.depositAddress(index)).toBe(await driver.deriveElsewhere(mnemonic, `${accountPath}/0/${index}`));
    });

    it('are those of the keys the signer holds', async () => {
      const network = await demoNetwork(driver.network);
      for (const { mnemonic, accountPath } of driver.published) {
        const signer = openSigner(network, mnemonic);
        const deriver = deriverOf(driver, mnemonic, accountPath);
        for (const index of INDEXES) expect(signer.addressAt(`${accountPath}/0/${index}`)).toBe(deriver.depositAddress(index));
      }
    });

    it('are canonical and unlike one another', () => {
      const { mnemonic, accountPath } = driver.published[0] as FamilyDriver['published'][number];
      const deriver = deriverOf(driver, mnemonic, accountPath);
      const addresses = Array.from({ length: 200 }, (_, index) => deriver.depositAddress(index));
      expect(new Set(addresses).size).toBe(200);
      for (const address of addresses) expect(codecOf(family).parse(address)).toEqual({ ok: true, canonical: address });
    });

    it('are never derived from a private key, nor from an xpub that is not pinned', () => {
      const { mnemonic, accountPath } = driver.published[0] as FamilyDriver['published'][number];
      const account = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic)).derive(accountPath);
      const pinned = { name: 'test', family, accountFingerprint: fingerprintOf(account) };
      expect(() => openDeriver({ ...pinned, accountXpub: account.privateExtendedKey })).toThrow();
      expect(() => openDeriver({ ...pinned, accountXpub: account.publicExtendedKey, accountFingerprint: '00000000' })).toThrow(/pinned/);
    });
  });

  describe('address text', () => {
    const codec = codecOf(family);

    it.each(corpus.accepted.map((one) => [one.text, one] as const))('%s is accepted and kept in its canonical form', (_text, { text, canonical, display }) => {
      expect(codec.parse(text)).toEqual({ ok: true, canonical });
      expect(codec.display(canonical)).toBe(display);
      expect(codec.parse(display)).toEqual({ ok: true, canonical });
    });

    it.each(corpus.refused)('with %s is refused with a reason', (_why, text) => {
      const parsed = codec.parse(text);
      expect(parsed.ok).toBe(false);
      expect(parsed).toHaveProperty('problem', expect.stringMatching(/^(is|has|must) ./));
    });

    it.each(corpus.txids.accepted)('transaction id %s is accepted', (text, canonical) => {
      expect(codec.parseTxid(text)).toEqual({ ok: true, canonical });
    });

    it.each(corpus.txids.refused)('as a transaction id, %s is refused', (_why, text) => {
      expect(codec.parseTxid(text).ok).toBe(false);
    });
  });
}

function deriverOf({ family }: FamilyDriver, mnemonic: string, accountPath: string): Deriver {
  const account = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic)).derive(accountPath);
  return openDeriver({ name: 'test', family, accountXpub: account.publicExtendedKey, accountFingerprint: fingerprintOf(account) });
}

function fingerprintOf(key: HDKey): string {
  return key.fingerprint.toString(16).padStart(8, '0');
}

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

type Published = FamilyDriver['published'][number];

/** Derivation and address text: what a family says of them without any node. */
export function describeAddresses(driver: FamilyDriver): void {
  const { family, corpora } = driver;

  describe('deposit addresses', () => {
    it.each(driver.published)('of a published mnemonic are the published ones, from the xpub alone', (published) => {
      const deriver = deriverOf(driver, published);
      for (const [index, address] of Object.entries(published.addresses)) expect(deriver.depositAddress(Number(index))).toBe(address);
    });

    it.each(driver.published)('are what another library derives from the mnemonic, at small and large indexes', async (published) => {
      const deriver = deriverOf(driver, published);
      const { mnemonic, accountPath } = published;
      for (const index of INDEXES)
        expect(deriver.depositAddress(index)).toBe(await driver.deriveElsewhere(mnemonic, `${accountPath}/0/${index}`, published.chainId));
    });

    it('are those of the keys the signer holds', async () => {
      const network = await demoNetwork(driver.network);
      for (const published of driver.published) {
        const { mnemonic, accountPath, chainId } = published;
        const signer = openSigner({ ...network, chainId }, mnemonic);
        const deriver = deriverOf(driver, published);
        for (const index of INDEXES) expect(signer.addressAt(`${accountPath}/0/${index}`)).toBe(deriver.depositAddress(index));
      }
    });

    it('are canonical and unlike one another', () => {
      const published = driver.published[0] as Published;
      const deriver = deriverOf(driver, published);
      const addresses = Array.from({ length: 200 }, (_, index) => deriver.depositAddress(index));
      expect(new Set(addresses).size).toBe(200);
      const codec = codecOf({ family, chainId: published.chainId });
      for (const address of addresses) expect(codec.parse(address)).toEqual({ ok: true, canonical: address });
    });

    it('are never derived from a private key, nor from an xpub that is not pinned', () => {
      const { mnemonic, accountPath, chainId } = driver.published[0] as Published;
      const account = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic)).derive(accountPath);
      const pinned = { name: 'test', family, chainId, accountFingerprint: fingerprintOf(account) };
      expect(() => openDeriver({ ...pinned, accountXpub: account.privateExtendedKey })).toThrow();
      expect(() => openDeriver({ ...pinned, accountXpub: account.publicExtendedKey, accountFingerprint: '00000000' })).toThrow(/pinned/);
    });
  });

  describe.each(corpora.map((corpus) => [corpus.chainId, corpus] as const))('address text of chain %s', (chainId, corpus) => {
    const codec = () => codecOf({ family, chainId });

    it.each(corpus.accepted.map((one) => [one.text, one] as const))('%s is accepted and kept in its canonical form', (_text, { text, canonical, display }) => {
      expect(codec().parse(text)).toEqual({ ok: true, canonical });
      expect(codec().display(canonical)).toBe(display);
      expect(codec().parse(display)).toEqual({ ok: true, canonical });
    });

    it.each(corpus.refused)('with %s is refused with a reason', (_why, text) => {
      const parsed = codec().parse(text);
      expect(parsed.ok).toBe(false);
      expect(parsed).toHaveProperty('problem', expect.stringMatching(/^(is|has|must) ./));
    });

    it.each(corpus.txids.accepted)('transaction id %s is accepted', (text, canonical) => {
      expect(codec().parseTxid(text)).toEqual({ ok: true, canonical });
    });

    it.each(corpus.txids.refused)('as a transaction id, %s is refused', (_why, text) => {
      expect(codec().parseTxid(text).ok).toBe(false);
    });
  });
}

function deriverOf({ family }: FamilyDriver, { mnemonic, accountPath, chainId }: Published): Deriver {
  const account = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic)).derive(accountPath);
  return openDeriver({ name: 'test', family, chainId, accountXpub: account.publicExtendedKey, accountFingerprint: fingerprintOf(account) });
}

function fingerprintOf(key: HDKey): string {
  return key.fingerprint.toString(16).padStart(8, '0');
}

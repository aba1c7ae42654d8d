import { decodeFunctionData, erc20Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import { injectedTransfer } from '#api/checkout/page/injected-transfer.ts';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import { CHECKOUT_SCENES, checkoutScene } from '#test/fixtures/checkout-scenes.ts';

const token = checkoutScene('pay-token-evm').snapshot;
const offerOf = ({ payment }: Snapshot) => payment.offers.find(({ id }) => id === payment.selectedOfferId)!;
/** The chosen offer with this changed. */
const changed = (part: Partial<ReturnType<typeof offerOf>>): Snapshot => ({
  ...token,
  payment: { ...token.payment, offers: token.payment.offers.map((offer) => (offer.id === token.payment.selectedOfferId ? { ...offer, ...part } : offer)) },
});

describe('what a wallet of the browser is asked to send', () => {
  it('is the token’s own transfer of exactly the amount to the address, on the chain of the offer', () => {
    const { assetDecimals, contractAddress, depositAddress, assetNetwork } = offerOf(token);
    const transfer = injectedTransfer(changed({ totalValue: `0.${'1'.padStart(assetDecimals, '0')}` }), 'pay');
    expect(transfer).toMatchObject({ chainId: `0x${Number(token.networks[assetNetwork]?.chainId).toString(16)}`, to: contractAddress, value: '0x0' });
    const called = decodeFunctionData({ abi: erc20Abi, data: transfer?.data as `0x${string}` });
    expect([called.functionName, String(called.args?.[0]).toLowerCase(), called.args?.[1]]).toEqual(['transfer', depositAddress?.toLowerCase(), 1n]);
  });

  it('is coins where the offer is coins, to the last unit', () => {
    const native = changed({ assetType: 'NATIVE', assetDecimals: 18, contractAddress: null, totalValue: '123456789.123456789012345678' });
    expect(injectedTransfer(native, 'ending')).toEqual({
      chainId: injectedTransfer(token, 'pay')?.chainId,
      to: offerOf(token).depositAddress,
      value: `0x${123456789123456789012345678n.toString(16)}`,
    });
  });

  it('is nothing on other families, for open amounts, in the sandbox, and in states in which nobody should pay', () => {
    const asked = CHECKOUT_SCENES.filter(({ snapshot, state }) => injectedTransfer(snapshot, state) !== null);
    expect(asked.length).toBeGreaterThan(0);
    for (const { state, snapshot } of asked) {
      expect(['pay', 'ending']).toContain(state);
      expect(snapshot.networks[offerOf(snapshot).assetNetwork]?.family).toBe('evm');
      expect([snapshot.payment.openAmount, snapshot.payment.isSandbox]).toEqual([false, false]);
    }
  });

  it.each([
    ['no contract', { contractAddress: null }],
    ['a contract of another family', { contractAddress: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }],
    ['more decimals than the token has', { totalValue: '1.0000001', assetDecimals: 6 }],
    ['nothing to pay', { totalValue: '0' }],
    ['an address of another family', { depositAddress: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' }],
  ])('is nothing with %s', (_what, part) => expect(injectedTransfer(changed(part), 'pay')).toBeNull());
});

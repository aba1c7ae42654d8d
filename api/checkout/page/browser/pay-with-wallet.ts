import type { InjectedTransfer } from '../injected-transfer.ts';
import type { WalletProvider } from './injected-wallets.ts';

/** What came of asking a wallet; `changed` is that there is nothing to be paid like this any more. */
export type WalletOutcome = 'sent' | 'refused' | 'wrong-network' | 'changed' | 'failed';

/** The payer said no (EIP-1193). */
const REFUSED = 4001;

/**
 * Has a wallet send one transfer: asks for an account, changes to the network, and asks for the transaction, in which the payer sees amount and recipient before they agree. Nothing is
 * asked for beside these. `wanted` is looked at again last thing before the wallet is asked: meanwhile the payment may have ended.
 */
export async function payWithWallet(provider: WalletProvider, wanted: () => InjectedTransfer | null): Promise<WalletOutcome> {
  const first = wanted();
  if (first === null) return 'changed';
  try {
    const accounts = await provider.request({ method: 'eth_requestAccounts' });
    const from: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    if (typeof from !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(from)) return 'failed';
    if (!(await isOn(provider, first.chainId))) {
      if ((await changeTo(provider, first.chainId)) === 'refused') return 'refused';
      if (!(await isOn(provider, first.chainId))) return 'wrong-network';
    }
    const transfer = wanted();
    if (transfer === null || JSON.stringify(transfer) !== JSON.stringify(first)) return 'changed';
    await provider.request({ method: 'eth_sendTransaction', params: [{ from, ...transfer }] });
    return 'sent';
  } catch (error) {
    return isRefusal(error) ? 'refused' : 'failed';
  }
}

async function isOn(provider: WalletProvider, chainId: string): Promise<boolean> {
  const answer = await provider.request({ method: 'eth_chainId' });
  return typeof answer === 'string' && answer.toLowerCase() === chainId;
}

/** A wallet that does not know the network stays where it is: adding one from here would have it trust a node that we name. */
async function changeTo(provider: WalletProvider, chainId: string): Promise<'asked' | 'refused'> {
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  } catch (error) {
    if (isRefusal(error)) return 'refused';
  }
  return 'asked';
}

function isRefusal(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === REFUSED;
}

import type { Chain, Deps, Reply } from '#api/deps.ts';
import { listHaltedWallets } from '#api/store/adopted.ts';
import { lockTip } from '#api/store/chain-blocks.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { hasAllocatedNonce } from '#api/store/payouts.ts';
import { clearWallet, findWalletByAddress, lockWallet, type StoredWallet } from '#api/store/wallets.ts';
import { WALLET_ROLES, walletAddress } from '#api/payouts/rules/wallets.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readText } from './input.ts';

const MAX_REASON = 500;

/**
 * POST /wallets/clear: lets a wallet send again that was stopped for a use nobody here made, or for a transaction that did something else
 * than was meant, once the books name every transaction of it (decisions 10); with an audit row. Locks the network's tip, so that no block is
 * applied meanwhile, then the wallet.
 * @throws validation_error naming network, wallet or reason; conflict when it is not halted, or saying what is not explained yet; service_unavailable
 */
export async function clearHaltedWallet(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const chain = deps.chains.get(readText(fields, 'network'));
  if (chain === undefined) throw invalid('network', 'is no network of this deployment');
  const wallet = await readWallet(deps, chain, readText(fields, 'wallet'));
  const reason = readText(fields, 'reason', MAX_REASON);
  const used = await nonceOf(chain, wallet);
  const cleared = await deps.db.transaction(async (tx) => {
    await lockTip(tx, chain.id);
    const locked = await lockWallet(tx, wallet.id);
    if (locked === undefined) throw new Invariant(`wallet ${wallet.id} is gone`);
    const halted = (await listHaltedWallets(tx, chain.id)).find(({ id }) => id === wallet.id);
    if (halted === undefined) throw new ServiceError('conflict', { message: 'The wallet is not halted.' });
    if (halted.unexplained.length > 0)
      throw new ServiceError('conflict', {
        message: `The books do not know ${halted.unexplained.join(', ')} yet: say what it was (sluice dispatch adopt), or wait until it is final.`,
      });
    if (used !== null && used > locked.nextNonce && (await hasAllocatedNonce(tx, wallet.id)))
      throw new ServiceError('conflict', { message: `The chain has used nonce ${used - 1} of it, and the books know of none above ${locked.nextNonce - 1}.` });
    await clearWallet(tx, wallet.id);
    const { role, address } = halted;
    await insertOperatorAction(tx, deps.operator, {
      action: 'wallet.clear',
      target: chain.codec.display(address),
      reason,
      details: { network: halted.network, role, halted: halted.reason },
    });
    return { network: halted.network, role, address: chain.codec.display(address), wasHaltedFor: halted.reason };
  });
  crashPoint('wallet.cleared');
  deps.wake();
  return { status: 200, data: cleared };
}

/** A wallet by the role it is configured for, or by its address. */
async function readWallet(deps: Deps, chain: Chain, text: string): Promise<StoredWallet> {
  const role = WALLET_ROLES.find((one) => one === text);
  const parsed = role === undefined ? chain.codec.parse(text) : null;
  const address = role === undefined ? (parsed?.ok === true ? parsed.canonical : null) : walletAddress(chain, role);
  const wallet = address === null ? undefined : await findWalletByAddress(deps.db.sql, chain.id, address);
  if (wallet === undefined) throw invalid('wallet', `is neither ${WALLET_ROLES.join(', ')} nor the address of a wallet on this network`);
  return wallet;
}

/** The next nonce the chain takes from it; null where there are none. @throws service_unavailable */
async function nonceOf(chain: Chain, wallet: StoredWallet): Promise<number | null> {
  try {
    return await chain.payer.nonce(wallet.address);
  } catch (error) {
    if (error instanceof ChainUnavailable) throw new ServiceError('service_unavailable', { message: 'The chain cannot be asked about the wallet right now.' });
    throw error;
  }
}

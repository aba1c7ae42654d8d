import type { Deps } from '#api/deps.ts';
import { findGateway } from '#api/store/gateways.ts';
import { findPrice } from '#api/store/prices.ts';
import { findScreenedCredit, listScreenedTransfers, type ScreenedTransfer } from '#api/store/credits.ts';
import { Invariant } from '#shared/core/errors.ts';
import { coinsToUsd } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { applyVerdict, type Verdicts } from './apply-verdict.ts';

/**
 * Asks for a verdict of every transfer of a credit and applies the worst of them; true once the credit has its verdict, false while it has to be
 * asked again: the provider is down or undecided, or the gateway is out of credit (decisions 10). Verdicts that were given are not bought twice, so
 * it may be called again at any time, also after a crash. Nothing is locked while it asks.
 */
export async function screenCredit(deps: Deps, creditId: string): Promise<boolean> {
  const credit = await findScreenedCredit(deps.db.sql, creditId);
  if (credit === undefined) throw new Invariant(`credit ${creditId} does not exist`);
  if (credit.screening !== 'waiting') return true;
  const gateway = await findGateway(deps.db.sql, credit.gatewayId);
  if (gateway === undefined) throw new Invariant(`gateway ${credit.gatewayId} does not exist`);
  const { screening } = gateway.settings;
  // Screening was switched off since: no provider is asked, and what no provider looked at must not pass as clean either.
  if (!screening.enabled) return false;
  const transfers = await listScreenedTransfers(deps.db.sql, creditId);
  if (transfers.length === 0) throw new Invariant(`credit ${creditId} has no deposits`);
  const verdicts: Verdicts['transfers'][number][] = [];
  for (const transfer of transfers) {
    const screen = await ask(deps, gateway, transfer);
    if (typeof screen === 'string') {
      deps.log.warn({ creditId, depositId: transfer.depositId, screen }, 'a deposit waits for its verdict');
      return false;
    }
    verdicts.push({ depositId: transfer.depositId, ...screen });
  }
  crashPoint('aml.verdict-stored');
  await deps.db.transaction((tx) => applyVerdict(tx, deps, { creditId, paymentId: credit.paymentId, transfers: verdicts, threshold: screening.threshold }));
  crashPoint('aml.verdict-applied');
  return true;
}

async function ask(deps: Deps, gateway: Parameters<Deps['screening']['deposit']>[0]['gateway'], transfer: ScreenedTransfer) {
  const chain = deps.chains.get(transfer.networkName);
  // A deployment that does not serve its network (any more) cannot look at it.
  if (chain === undefined) return 'unavailable';
  const { depositId, txid, senders, recipient, assetId, symbol, amount } = transfer;
  const price = (await findPrice(deps.db.sql, symbol))?.usd;
  return deps.screening.deposit({
    gateway,
    chain,
    depositId,
    txid,
    // Coins without a sender's address, such as a block's reward, cannot be screened.
    senders: senders.filter((sender) => chain.codec.parse(sender).ok),
    recipient,
    assetId,
    ...(price !== undefined && { amountUsd: coinsToUsd(amount, price, 'half-up') }),
  });
}

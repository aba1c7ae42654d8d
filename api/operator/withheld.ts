import { failWithheld } from '#api/aml/end-withheld.ts';
import { orderWithheld } from '#api/aml/order-withheld.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { readAmount, readAsset, readDestination } from '#api/treasury/destination.ts';
import { findAsset, findAssetByContract } from '#api/store/assets.ts';
import { findGateway } from '#api/store/gateways.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { listWithheldPayouts } from '#api/store/payouts.ts';
import { isOwnAddress } from '#api/store/wallets.ts';
import { findWithheldTransfer, listWithheld, listWithheldTransfers, lockWithheldTransfer, type ShownWithheldTransfer } from '#api/store/withheld-transfers.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Act } from './act.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readMoney, readText } from './input.ts';
import { propose } from './propose.ts';

const MAX_REASON = 500;

/** What of a gateway's withheld coins two people send where; the content of a proposal, as text. */
type Content = Readonly<{
  gatewayId: string;
  gatewayName: string;
  assetId: string;
  assetSymbol: string;
  network: string;
  amount: string;
  /** As people of that network write it. */
  address: string;
}>;

/** GET /gateways/{id}/withheld: what is kept from a gateway, by asset, and what was sent of it. @throws not_found */
export async function showWithheld(deps: Deps, call: OperatorCall): Promise<Reply> {
  const gateway = await findGateway(deps.db.sql, readId(call.params));
  if (gateway === undefined) throw new ServiceError('not_found');
  const kept = await listWithheld(deps.db.sql, gateway.id);
  const items = await Promise.all(
    kept.map(async ({ assetId, ...one }) => {
      const asset = await findAsset(deps.db.sql, assetId);
      return {
        assetId,
        assetSymbol: asset?.symbol ?? assetId,
        network: asset?.networkName ?? '',
        withheld: formatAmount(one.kept),
        final: formatAmount(one.final),
        onItsWay: formatAmount(one.ordered),
      };
    }),
  );
  const transfers = await Promise.all((await listWithheldTransfers(deps.db.sql, gateway.id)).map((one) => transferView(deps, one)));
  return { status: 200, data: { gatewayId: gateway.id, items, transfers } };
}

/**
 * POST /gateways/{id}/withheld: proposes to send coins that are kept from a gateway to an address of the deployment's choosing; nothing is
 * done before a second person confirms it (decisions 10). The deployment bears the fee.
 * @throws not_found; validation_error naming assetId, amount, address or reason
 */
export async function proposeWithheld(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { reason, ...content } = await readWithheld(deps, call);
  return propose(deps, { act: 'withheld.pay', target: content.gatewayId, content, reason });
}

/** What would be proposed, everything about it checked. @throws what `proposeWithheld` does */
export async function readWithheld(deps: Deps, call: OperatorCall): Promise<Content & { reason: string }> {
  const gateway = await findGateway(deps.db.sql, readId(call.params));
  if (gateway === undefined) throw new ServiceError('not_found');
  const fields = fieldsOf(call.body);
  const { asset, chain } = await readAsset(deps, fields.assetId);
  const text = readMoney(fields, 'amount');
  if (text === undefined) throw invalid('amount', 'is required');
  const { coins } = readAmount(text, asset.decimals);
  const { display } = await readDestination(deps, asset, chain, fields.address);
  return {
    gatewayId: gateway.id,
    gatewayName: gateway.name,
    assetId: asset.id,
    assetSymbol: asset.symbol,
    network: asset.networkName,
    amount: formatAmount(coins),
    address: display,
    reason: readText(fields, 'reason', MAX_REASON),
  };
}

/** Orders what was proposed, if that much is still kept, and its address may still be paid. */
export const payWithheld: Act = {
  async execute(tx, deps, { proposal, confirmedBy }) {
    const content = proposal.content as unknown as Content;
    const asset = await findAsset(tx, content.assetId);
    const chain = asset && deps.chains.get(asset.networkName);
    if (asset === undefined || chain === undefined) throw new ServiceError('conflict', { message: `The network ${content.network} is not served right now.` });
    const parsed = chain.codec.parse(content.address);
    if (!parsed.ok) throw new Invariant(`proposal ${proposal.id} names no address: ${parsed.problem}`);
    const recipient = parsed.canonical;
    if ((await isOwnAddress(tx, asset.family, recipient)) || (await findAssetByContract(tx, asset.networkId, recipient)) !== undefined)
      throw new ServiceError('conflict', { message: `${content.address} belongs to this service or to a token by now; withdraw the proposal.` });
    // The proposal's own id: what two people agreed on is ordered once, whatever its row says afterwards.
    const transferId = proposal.id;
    if ((await findWithheldTransfer(tx, transferId)) !== undefined)
      throw new ServiceError('conflict', { message: 'This was ordered already: somebody changed the proposal since. Withdraw it, and find out who.' });
    await orderWithheld(tx, deps, {
      id: transferId,
      gatewayId: content.gatewayId,
      assetId: asset.id,
      networkId: asset.networkId,
      recipient,
      amount: parseTrusted(content.amount),
      reason: proposal.reason,
      proposedBy: proposal.proposedBy,
      confirmedBy,
      symbol: asset.symbol,
    });
    return { transferId };
  },
};

/**
 * POST /withheld/{id}/cancel: takes a transfer of withheld coins back that nothing was planned for, such as one that its network refuses; the
 * coins are kept as before. Locks the transfer. @throws not_found; validation_error naming reason; conflict when it is over, or may still be paid
 */
export async function cancelWithheld(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const reason = readText(fieldsOf(call.body), 'reason', MAX_REASON);
  const cancelled = await deps.db.transaction(async (tx) => {
    const transfer = await lockWithheldTransfer(tx, id);
    if (transfer === undefined) throw new ServiceError('not_found');
    if (transfer.status !== 'ordered') throw new ServiceError('conflict', { message: `The transfer is ${transfer.status} already.` });
    const open = (await listWithheldPayouts(tx, id)).find(({ status }) => status !== 'CANCELLED' && status !== 'FAILED');
    if (open !== undefined)
      throw new ServiceError('conflict', {
        message: `The transfer may still be paid: payout ${open.id} is ${open.status}. What cannot be sent is given up by itself.`,
      });
    await failWithheld(tx, deps, { transferId: id, reason: `cancelled: ${reason}` });
    const { gatewayId, assetId, amount, recipient } = transfer;
    await insertOperatorAction(tx, deps.operator, {
      action: 'withheld.cancel',
      target: id,
      reason,
      details: { gatewayId, assetId, amount: formatAmount(amount), recipient },
    });
    return findWithheldTransfer(tx, id);
  });
  crashPoint('withheld.cancelled');
  if (cancelled === undefined) throw new Invariant(`transfer ${id} of withheld coins is gone`);
  const { intentMac: _, ...shown } = cancelled;
  return { status: 200, data: await transferView(deps, shown) };
}

async function transferView(deps: Deps, { networkId: _, recipient, amount, ...one }: ShownWithheldTransfer): Promise<object> {
  const asset = await findAsset(deps.db.sql, one.assetId);
  const network = asset?.networkName ?? '';
  const address = deps.chains.get(network)?.codec.display(recipient) ?? recipient;
  return { ...one, assetSymbol: asset?.symbol ?? one.assetId, network, address, amount: formatAmount(amount) };
}

import type { SettlementView } from '#api/settlements/view.ts';
import { getSettlement } from '#api/settlements/view.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { formatAmount, parseTrusted, toUnits } from '#shared/core/money.ts';
import { coreCall } from '#test/chains/conformance/bitcoin-rpc.ts';
import type { TestChain } from '#test/harness/chain.ts';
import type { TronChain } from '#test/harness/tron-chain.ts';
import type { Cashout, Model, Paid, Sent } from './model.ts';
import type { Street } from './street.ts';

/** What the service got wrong, if the chains are right. */
export class Contradiction extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Contradiction';
  }
}

function insist(holds: boolean, message: string): void {
  if (!holds) throw new Contradiction(message);
}

function holds(street: Street, asset: StoredAsset, address: string): Promise<bigint> {
  const { chain } = street.node;
  return asset.contract === null ? chain.balance(address) : chain.tokenBalance(asset.contract, address);
}

const rawOf = (text: string, asset: StoredAsset): bigint => toUnits(parseTrusted(text), asset.decimals) as bigint;

/** Whether a transfer is on the chain now, by the node's own word. */
async function stands(street: Street, txid: string): Promise<boolean> {
  if (street.driver.family === 'evm') {
    const { node } = street.node.chain as TestChain;
    return (await node.call<{ status: string } | null>('eth_getTransactionReceipt', [txid]))?.status === '0x1';
  }
  if (street.driver.family === 'bitcoin') return isMined(street.node.chain.url, txid);
  const { node } = street.node.chain as TronChain;
  const info = await node.call<{ blockNumber?: number; receipt?: { result?: string } }>('wallet/gettransactioninfobyid', { value: txid });
  return info.blockNumber !== undefined && (info.receipt?.result ?? 'SUCCESS') === 'SUCCESS';
}

/** Whether a block of the best chain holds a transaction; a node also tells of the blocks that it has left. */
async function isMined(url: string, txid: string): Promise<boolean> {
  const call = coreCall(url);
  const { blockhash } = await call<{ blockhash?: string }>('getrawtransaction', [txid, 1]).catch((): { blockhash?: string } => ({}));
  if (blockhash === undefined) return false;
  return (await call<{ confirmations: number }>('getblockheader', [blockhash])).confirmations > 0;
}

/** At every moment: nobody ever received more than was asked for; of the newest cashouts only, when a number is given. */
export async function checkDestinations(model: Model, newest = model.cashouts.length): Promise<void> {
  for (const cashout of newest === 0 ? [] : model.cashouts.slice(-newest)) {
    const held = await holds(cashout.street, cashout.asset, cashout.destination);
    insist(
      held <= rawOf(cashout.body.amount, cashout.asset),
      `${cashout.destination} received ${held}, more than the ${cashout.body.amount} that were asked for`,
    );
  }
}

/**
 * When nothing is on its way any more: what the service says of every payment and every cashout is what the chains hold,
 * and each merchant's money is all there, to the unit. Everything here is read from the nodes and from the contract's own
 * views; the books are what is being judged.
 */
export async function checkEverything(model: Model): Promise<void> {
  await model.town.audit();
  await checkAddresses(model);
  const settled = await checkCashouts(model);
  await checkMerchants(model, settled);
}

/** All our addresses together hold what the books say. */
async function checkAddresses({ town }: Model): Promise<void> {
  const { sql } = town.world.database;
  for (const street of town.streets) {
    const addresses = await sql<{ address: string }[]>`
      select address from wallets where network_id = ${street.id} union select address from deposit_addresses where network_id = ${street.id}`;
    for (const asset of street.assets) {
      let held = 0n;
      for (const { address } of addresses) held += await holds(street, asset, address);
      const [row] = await sql<{ coins: string }[]>`
        select coalesce(-sum(balance), 0)::text as coins from ledger_accounts where kind = 'chain' and asset_id = ${asset.id}`;
      insist(rawOf(row?.coins ?? '0', asset) === held, `${asset.symbol} on ${street.name}: the books say ${row?.coins}, our addresses hold ${held}`);
    }
  }
}

/** Every cashout was paid exactly once or not at all, as it says; answers what each one took from its merchant. */
async function checkCashouts(model: Model): Promise<Map<Cashout, SettlementView>> {
  const views = new Map<Cashout, SettlementView>();
  for (const cashout of model.cashouts) {
    const held = await holds(cashout.street, cashout.asset, cashout.destination);
    if (cashout.id === null) {
      insist(held === 0n, `${cashout.destination} was paid by a cashout that was refused`);
      continue;
    }
    const view = await getSettlement(model.town.process().deps, { gateway: cashout.shop.gateway, id: cashout.id });
    views.set(cashout, view);
    const due = view.status === 'SETTLED' ? rawOf(view.receivedAmount, cashout.asset) : 0n;
    insist(held === due, `settlement ${cashout.id} is ${view.status}: its destination must hold ${due} and holds ${held}`);
    insist(view.amount === cashout.body.amount, `settlement ${cashout.id} echoes ${view.amount}, not ${cashout.body.amount}`);
    if (view.status !== 'SETTLED') continue;
    insist(view.receivedAmount === view.netAmount, `settlement ${cashout.id} received ${view.receivedAmount} of ${view.netAmount}`);
    const whole = parseTrusted(view.netAmount) + parseTrusted(view.feeLocked);
    insist(whole === parseTrusted(view.amount), `settlement ${cashout.id}: fee and net amount are ${formatAmount(whole)}, not ${view.amount}`);
  }
  return views;
}

interface Owed {
  gross: bigint;
  fees: bigint;
  transfers: number;
}

/** What arrived for a payment by the chain, and the network fee the deployment keeps of it (decisions 11). */
async function owedFor(paid: Paid): Promise<Map<StoredAsset, Owed>> {
  const arrived = new Map<StoredAsset, Sent[]>();
  for (const sent of paid.sent) if (await stands(paid.street, sent.txid)) arrived.set(sent.asset, [...(arrived.get(sent.asset) ?? []), sent]);
  return new Map(
    [...arrived].map(([asset, transfers]) => {
      const gross = transfers.reduce((sum, { rawAmount }) => sum + rawAmount, 0n);
      const fee = paid.shop.gateway.billing === 'STANDARD' ? rawOf(formatAmount(asset.networkFee), asset) : 0n;
      return [asset, { gross, fees: fee < gross ? fee : gross, transfers: transfers.length }];
    }),
  );
}

/** What each merchant was sent, less fees, is what it has, has claimed, or was paid. */
async function checkMerchants(model: Model, views: ReadonlyMap<Cashout, SettlementView>): Promise<void> {
  const { sql } = model.town.world.database;
  for (const shop of model.shops) {
    const owed = new Map<StoredAsset, Owed>();
    for (const paid of model.paid.filter((one) => one.shop === shop)) {
      for (const [asset, one] of await owedFor(paid)) {
        const so = owed.get(asset) ?? { gross: 0n, fees: 0n, transfers: 0 };
        owed.set(asset, { gross: so.gross + one.gross, fees: so.fees + one.fees, transfers: so.transfers + one.transfers });
      }
    }
    for (const asset of model.town.streets.flatMap((street) => street.assets)) {
      const { gross, fees, transfers } = owed.get(asset) ?? { gross: 0n, fees: 0n, transfers: 0 };
      const [booked] = await sql<{ gross: string; count: number }[]>`
        select coalesce(sum(gross), 0)::text as gross, count(*)::int as count from credits where gateway_id = ${shop.gateway.id} and asset_id = ${asset.id}`;
      const name = `${shop.name}, ${asset.symbol} on ${asset.networkName}`;
      insist(booked?.count === transfers, `${name}: ${booked?.count} credits for ${transfers} transfers on the chain`);
      insist(rawOf(booked?.gross ?? '0', asset) === gross, `${name}: ${booked?.gross} credited, ${gross} received on the chain`);
      const [has] = await sql<{ coins: string }[]>`
        select coalesce(sum(balance), 0)::text as coins from ledger_accounts
        where gateway_id = ${shop.gateway.id} and asset_id = ${asset.id}`;
      const paidOut = [...views]
        .filter(([cashout, view]) => cashout.shop === shop && cashout.asset === asset && view.status === 'SETTLED')
        .reduce((sum, [cashout]) => sum + rawOf(cashout.body.amount, asset), 0n);
      let refunded = 0n;
      for (const { paid, destination } of model.refunds)
        if (paid.shop === shop && paid.street.id === asset.networkId) refunded += await holds(paid.street, asset, destination);
      const left = rawOf(has?.coins ?? '0', asset);
      insist(
        left + paidOut + refunded === gross - fees,
        `${name}: ${gross} received less ${fees} of fees, but ${left} left, ${paidOut} paid out and ${refunded} refunded`,
      );
    }
  }
}

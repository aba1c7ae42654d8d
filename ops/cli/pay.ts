import { setTimeout as pause } from 'node:timers/promises';
import type { DevFile } from '#ops/dev/dev-file.ts';
import { familyOf } from '#ops/dev/families.ts';
import { isMoney, parseTrusted, toUnits } from '#shared/core/money.ts';
import { type Command, type Context, type Options, textOption, UsageError } from './command.ts';
import { callApi, callAt, pageOf } from './context.ts';
import { facts } from './format.ts';

/** How long an address may take: the retry budget contract 8 suggests. */
const ADDRESS_MILLISECONDS = 30_000;
const RESOLVE_MILLISECONDS = 120_000;
const POLL_MILLISECONDS = 500;

interface Offer {
  id: string;
  assetId: string;
  assetSymbol: string;
  assetNetwork: string;
  assetDecimals: number;
  contractAddress: string | null;
  totalValue: string;
}

interface Payment {
  id: string;
  status: string;
  checkoutMode: 'HOSTED' | 'API';
  selectedOfferId: string | null;
  offers: Offer[];
}

export const payCommands: readonly Command[] = [
  {
    name: 'pay',
    args: '<paymentUid>',
    summary: 'pay from the faucet of the local chain (development)',
    options: {
      asset: { type: 'string', help: 'ticker, ticker@network, or asset id (the offer that was chosen on the page, else the first)' },
      amount: { type: 'string', help: 'how much to send (exactly what the offer asks for)' },
      wait: { type: 'boolean', help: 'wait until the payment has a result' },
    },
    arity: [1, 1],
    async run(open, [paymentUid], options) {
      const amount = textOption(options, 'amount');
      if (amount !== undefined && !isMoney(amount)) throw new UsageError(`--amount must be a decimal such as 10.50, not "${amount}"`);
      const context = await open();
      const payment = await readPayment(context, paymentUid ?? '');
      const offer = chooseOffer(payment, options);
      const units = toUnits(parseTrusted(amount ?? offer.totalValue), offer.assetDecimals);
      if (units === undefined) throw new UsageError(`${offer.assetSymbol} has ${offer.assetDecimals} decimal places`);
      const { dev } = context;
      const network = dev?.localNetworks.includes(offer.assetNetwork) ? dev.networks[offer.assetNetwork] : undefined;
      if (dev === undefined || network === undefined) throw new Error(`${offer.assetNetwork} has no local faucet here; pay it from a wallet`);
      const address = await selectAddress(context, dev, payment, offer);
      const txHash = await familyOf(network.family).open(network.rpcUrl).pay(address, offer.contractAddress, units);
      const page = payment.checkoutMode === 'HOSTED' ? { page: pageOf(dev, payment.id) } : {};
      const sent = {
        paymentUid: payment.id,
        asset: offer.assetSymbol,
        network: offer.assetNetwork,
        amount: amount ?? offer.totalValue,
        address,
        txHash,
        ...page,
      };
      if (options.wait !== true) return { data: sent, text: facts(sent) };
      const status = await awaitResult(context, payment.id);
      return { data: { ...sent, status }, text: facts({ ...sent, status }) };
    },
  },
];

async function readPayment(context: Context, id: string): Promise<Payment> {
  const answer = await callApi(context, 'GET', `/public/payments/${encodeURIComponent(id)}`);
  if (!answer.success) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer.data as unknown as Payment;
}

function chooseOffer(payment: Payment, options: Options): Offer {
  const wanted = textOption(options, 'asset');
  const offer = payment.offers.find(
    (one) =>
      (wanted === undefined && (payment.selectedOfferId ?? one.id) === one.id) ||
      [one.assetId, one.assetSymbol, `${one.assetSymbol}@${one.assetNetwork}`].some((name) => name.toLowerCase() === wanted?.toLowerCase()),
  );
  if (offer === undefined)
    throw new Error(
      `the payment does not offer ${wanted ?? 'anything'}; it offers ${payment.offers.map((one) => `${one.assetSymbol}@${one.assetNetwork}`).join(', ') || 'nothing'}`,
    );
  return offer;
}

/** Selects the offer where the payment's mode has it done, calling again while the address is being assigned (contract 4.2). */
async function selectAddress(context: Context, dev: DevFile, payment: Payment, offer: Offer): Promise<string> {
  const until = performance.now() + ADDRESS_MILLISECONDS;
  for (;;) {
    const answer =
      payment.checkoutMode === 'HOSTED'
        ? await callAt(`${pageOf(dev, payment.id)}/select`, 'POST', { body: { offerId: offer.id } })
        : await callApi(context, 'POST', `/public/payments/${payment.id}/offers/${offer.id}/select`);
    if (!answer.success) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    const { depositAddress, retryAfterMs } = answer.data as { depositAddress?: string; retryAfterMs?: number };
    if (depositAddress !== undefined && depositAddress !== null) return depositAddress;
    if (performance.now() >= until)
      throw new Error(`no address within ${ADDRESS_MILLISECONDS / 1000} s: is the indexer of ${offer.assetNetwork} running? (npx sluice chain status)`);
    await pause(retryAfterMs ?? POLL_MILLISECONDS);
  }
}

async function awaitResult(context: Context, id: string): Promise<string> {
  const until = performance.now() + RESOLVE_MILLISECONDS;
  for (;;) {
    const { status } = await readPayment(context, id);
    if (status !== 'PENDING' && status !== 'EXPIRED') return status;
    if (performance.now() >= until) throw new Error(`still ${status} after ${RESOLVE_MILLISECONDS / 1000} s: npx sluice payment show ${id}`);
    await pause(POLL_MILLISECONDS);
  }
}

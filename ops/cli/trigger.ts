import { setTimeout as pause } from 'node:timers/promises';
import type { DevFile } from '#ops/dev/dev-file.ts';
import { isSigned } from '#ops/dev/read-webhook.ts';
import { SHOP } from '#ops/dev/shop-pages.ts';
import type { ReceivedWebhook } from '#ops/dev/webhook-receiver.ts';
import { isMoney } from '#shared/core/money.ts';
import { SCENARIOS, type Scenario } from '#state-machines/payment/scenario.ts';
import { type Command, type Context, type Options, textOption, UsageError } from './command.ts';
import { callApi, pageOf } from './context.ts';
import { facts } from './format.ts';

/** A simulated confirmation takes ten seconds; a webhook follows at once. */
const RESOLVE_MILLISECONDS = 30_000;
const WEBHOOK_MILLISECONDS = 15_000;
const POLL_MILLISECONDS = 200;
/** Within this an `acceptable` payment of the demo gateway may deviate. */
const TOLERANCE_USD = '1';

/** Shorter names for tired fingers. */
const ALIASES: Readonly<Record<string, Scenario>> = {
  exact: 'success',
  under: 'underpaid',
  over: 'overpaid',
  wrong: 'wrong_asset',
  late: 'late_capture',
  seen: 'seen_then_confirmed',
};

/** A webhook as the built-in receiver got it. */
interface Delivered {
  at: string;
  status: string;
  signature: 'ok' | 'wrong';
}

export const triggerCommands: readonly Command[] = [
  {
    name: 'trigger',
    args: '<scenario>',
    summary: `play a scenario on a sandbox payment: ${SCENARIOS.join(', ')}`,
    options: {
      payment: { type: 'string', help: 'the sandbox payment to play on (a new one of the demo gateway)' },
      amount: { type: 'string', help: "what arrives (the scenario's own amount)" },
      asset: { type: 'string', help: 'ticker, ticker@network, or asset id that arrives (the first offer; for wrong_asset another one)' },
    },
    arity: [1, 1],
    async run(open, [word], options) {
      const scenario = readScenario(word ?? '');
      const amount = textOption(options, 'amount');
      if (amount !== undefined && !isMoney(amount)) throw new UsageError(`--amount must be a decimal such as 10.50, not "${amount}"`);
      const context = await open();
      const given = textOption(options, 'payment');
      const paymentUid = given ?? (await createPayment(context, scenario));
      const assetId = assetOf(context, options);
      const body = { scenario, ...(amount === undefined ? {} : { amount }), ...(assetId === undefined ? {} : { assetId }) };
      const played = await ask(context, 'POST', `/public/payments/${encodeURIComponent(paymentUid)}/sandbox/simulate`, { body });
      const status = scenario === 'seen_then_confirmed' ? await awaitResult(context, paymentUid) : String(played.status);
      const expected = status === 'PENDING' ? [] : scenario === 'late_capture' && given === undefined ? ['EXPIRED', status] : [status];
      const webhooks = context.dev === undefined ? [] : await awaitWebhooks(context.dev, paymentUid, expected, given === undefined);
      const outcome = await verify(context, paymentUid);
      const good =
        given !== undefined || (expected.every((one) => webhooks.some((webhook) => webhook.status === one)) && webhooks.every((one) => one.signature === 'ok'));
      const page = await hostedPage(context, paymentUid);
      return {
        data: { paymentUid, scenario, status, ...(page === undefined ? {} : { page }), webhooks, verify: outcome ?? null },
        text: describe({ paymentUid, scenario, status, page }, webhooks, outcome),
        good,
      };
    },
  },
];

/** @throws UsageError listing what there is */
function readScenario(word: string): Scenario {
  const name = word.toLowerCase().replaceAll('-', '_');
  const scenario = ALIASES[name] ?? SCENARIOS.find((one) => one === name);
  if (scenario === undefined) throw new UsageError(`"${word}" is no scenario; there is ${SCENARIOS.join(', ')}`);
  return scenario;
}

/** A sandbox payment of the demo gateway, with the built-in receiver as the merchant's. */
async function createPayment(context: Context, scenario: Scenario): Promise<string> {
  if (context.dev === undefined) throw new Error('there is no demo gateway here: run "npm start" first, or name a sandbox payment with --payment');
  const { gateway, webhookReceiver } = context.dev;
  const created = await ask(context, 'POST', '/payments', {
    headers: { 'x-api-key': gateway.apiKey },
    body: {
      currencyCode: 'USD',
      amount: '49.90',
      callbackUrl: new URL(SHOP.thanks, webhookReceiver.url).href,
      webhookUrl: webhookReceiver.url,
      isSandbox: true,
      ...(scenario === 'acceptable' ? { underAcceptableDiff: TOLERANCE_USD, acceptableDiffKind: 'ABSOLUTE', checkAmountDeviation: true } : {}),
    },
  });
  return String(created.paymentUid);
}

/** The id of the asset that was named; what is no name of one that is known here is taken for an id. */
function assetOf(context: Context, options: Options): string | undefined {
  const wanted = textOption(options, 'asset')?.toLowerCase();
  const known = context.dev?.assets.find((one) => [one.symbol, `${one.symbol}@${one.network}`].some((name) => name.toLowerCase() === wanted));
  return known?.id ?? wanted;
}

async function ask(
  context: Context,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Record<string, unknown>> {
  const answer = await callApi(context, method, path, options);
  if (!answer.success) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer.data;
}

async function awaitResult(context: Context, id: string): Promise<string> {
  const until = performance.now() + RESOLVE_MILLISECONDS;
  for (;;) {
    const { status } = await ask(context, 'GET', `/public/payments/${encodeURIComponent(id)}?statusOnly=true`);
    if (status !== 'PENDING' || performance.now() >= until) return String(status);
    await pause(POLL_MILLISECONDS);
  }
}

/** What the built-in receiver got for a payment; waits for the expected ones when they must come to it. */
async function awaitWebhooks(dev: DevFile, paymentUid: string, expected: readonly string[], wait: boolean): Promise<Delivered[]> {
  const until = performance.now() + (wait ? WEBHOOK_MILLISECONDS : 0);
  for (;;) {
    const received = (await (await fetch(dev.webhookReceiver.log)).json()) as ReceivedWebhook[];
    const webhooks = received.flatMap((one) => delivered(dev, paymentUid, one));
    if (expected.every((status) => webhooks.some((one) => one.status === status)) || performance.now() >= until) return webhooks;
    await pause(POLL_MILLISECONDS);
  }
}

function delivered(dev: DevFile, paymentUid: string, webhook: ReceivedWebhook): Delivered[] {
  if (!webhook.body.includes(paymentUid)) return [];
  const { status } = JSON.parse(webhook.body) as { status: string };
  return [{ at: webhook.at, status, signature: isSigned(webhook, dev.gateway.webhookSecret) ? 'ok' : 'wrong' }];
}

/** What verify says; undefined when the demo gateway does not own the payment. */
async function verify(context: Context, paymentUid: string): Promise<Record<string, unknown> | undefined> {
  if (context.dev === undefined) return undefined;
  const answer = await callApi(context, 'POST', `/payments/${encodeURIComponent(paymentUid)}/verify`, { headers: { 'x-api-key': context.dev.gateway.apiKey } });
  return answer.success ? answer.data : undefined;
}

/** Where the payment's page is; undefined when it has none, or nobody here knows. */
async function hostedPage(context: Context, paymentUid: string): Promise<string | undefined> {
  if (context.dev === undefined) return undefined;
  const { checkoutMode } = await ask(context, 'GET', `/public/payments/${encodeURIComponent(paymentUid)}`);
  return checkoutMode === 'HOSTED' ? pageOf(context.dev, paymentUid) : undefined;
}

function describe(
  head: { paymentUid: string; scenario: string; status: string; page: string | undefined },
  webhooks: readonly Delivered[],
  outcome: Record<string, unknown> | undefined,
): string {
  const show = (name: string): string | undefined => (outcome?.[name] === undefined ? undefined : String(outcome[name]));
  return facts({
    payment: head.paymentUid,
    scenario: head.scenario,
    status: head.status,
    page: head.page,
    webhook: webhooks.map((one) => `${one.status} (signature ${one.signature})`).join(', then ') || 'none',
    ...(outcome !== undefined && {
      expected: show('expectedAmount') && `${show('expectedAmount')} ${show('assetSymbol')}`,
      received: show('receivedAmount') && `${show('receivedAmount')} ${show('receivedAssetSymbol')}`,
      'received USD': show('receivedAmountUsd'),
      'deviation USD': show('deviationUsd'),
      path: show('depositPath'),
      transaction: show('txHash'),
    }),
    history: `npx sluice payment show ${head.paymentUid}`,
  });
}

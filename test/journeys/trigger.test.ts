import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context, Options, Result } from '#ops/cli/command.ts';
import { COMMANDS } from '#ops/cli/commands.ts';
import { parseCommandLine } from '#ops/cli/parse.ts';
import type { DevFile } from '#ops/dev/dev-file.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { SCENARIOS } from '#state-machines/payment/scenario.ts';
import { aWorld, type World } from '#test/harness/world.ts';

const CHECKOUT = 'http://checkout.test';

let world: World;
let receiver: WebhookReceiver;
let context: Context;

beforeAll(async () => {
  [world, receiver] = await Promise.all([aWorld({ blockSeconds: 1 }), startWebhookReceiver()]);
  const api = await world.startApi();
  await world.setPrices(api);
  const { gateway } = await world.aGateway(api);
  const { items } = (await world.operator(api).must('GET', '/assets')) as { items: { id: string; symbol: string; networkName: string }[] };
  const assets = items.map(({ id, symbol, networkName }) => ({ id, symbol, network: networkName }));
  const dev = { checkoutUrl: CHECKOUT, gateway, webhookReceiver: { url: receiver.url, log: receiver.logUrl }, assets } as unknown as DevFile;
  context = { operator: world.operator(api), people: new Map(), operatorUrl: api.operatorUrl, baseUrl: api.baseUrl, dev };
});
afterAll(async () => {
  await world.stop();
  await receiver.stop();
});

interface Triggered {
  paymentUid: string;
  status: string;
  webhooks: { status: string; signature: string }[];
  verify: Record<string, unknown>;
}

async function sluice(line: string, within: Context = context): Promise<Result & { data: Triggered }> {
  const parsed = parseCommandLine(line.split(' '), COMMANDS);
  if ('help' in parsed) throw new Error('only help');
  return (await parsed.command.run(async () => within, parsed.args, parsed.options as Options)) as Result & { data: Triggered };
}

const OUTCOMES: Record<(typeof SCENARIOS)[number], string[]> = {
  success: ['SUCCESS'],
  acceptable: ['ACCEPTABLE'],
  underpaid: ['MISMATCH'],
  overpaid: ['MISMATCH'],
  wrong_asset: ['SUCCESS'],
  seen_then_confirmed: ['SUCCESS'],
  late_capture: ['EXPIRED', 'SUCCESS'],
  expired: ['EXPIRED'],
};

it.each(SCENARIOS)('trigger %s makes a sandbox payment, plays it, and shows its page, the signed webhook and the verify answer', async (scenario) => {
  const { data, text, good } = await sluice(`trigger ${scenario}`);
  expect(good).toBe(true);
  expect(data.webhooks.map((webhook) => [webhook.status, webhook.signature])).toEqual(OUTCOMES[scenario].map((status) => [status, 'ok']));
  expect([data.status, data.verify.status]).toEqual([OUTCOMES[scenario].at(-1), OUTCOMES[scenario].at(-1)]);
  for (const part of [`${CHECKOUT}/p/${data.paymentUid}`, data.status, 'signature ok']) expect(text).toContain(part);
});

it('plays on a given payment, with a given amount and asset, by short names and dashes too', async () => {
  const first = await sluice('trigger expired');
  const { data } = await sluice(`trigger late-capture --payment ${first.data.paymentUid} --amount 10 --asset usdt@ethereum`);
  expect([data.paymentUid, data.status, data.verify.receivedAmount, data.verify.receivedAssetSymbol]).toEqual([
    first.data.paymentUid,
    'MISMATCH',
    '10',
    'USDT',
  ]);
  expect((await sluice('trigger under')).data.status).toBe('MISMATCH');
});

it('says what is wrong: an unknown scenario, an amount that is none, a payment that is resolved, no demo gateway', async () => {
  await expect(sluice('trigger nonsense')).rejects.toThrow('there is success, acceptable');
  await expect(sluice('trigger success --amount ten')).rejects.toThrow('--amount must be a decimal');
  const { data } = await sluice('trigger success');
  await expect(sluice(`trigger success --payment ${data.paymentUid}`)).rejects.toThrow('conflict: The payment is SUCCESS already.');
  await expect(sluice('trigger success', { ...context, dev: undefined })).rejects.toThrow('npm start');
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { forgetReceiptMails } from '#api/store/receipt-mails.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { POLICY } from '#shared/core/policy.ts';
import { aService, type Listening, listenCheckout, payTo, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
let checkout: Listening;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
  checkout = await listenCheckout(service.deps);
});
afterEach(() => void service.world.mails.splice(0));
afterAll(async () => {
  await checkout.close();
  await service.stop();
});

const mails = () => service.world.mails;
/** Nothing that was noted so far is of today any more; payments stay of today, as blocks are. */
const aDayPasses = () => service.world.database.sql`update receipt_mails set at = at - make_interval(secs => ${POLICY.receiptMailSeconds + 1})`;
let mailboxes = 0;
/** One that nothing was sent to. */
const aMailbox = (): string => `payer-${++mailboxes}@mail.example`;

/** Makes a hosted payment and has it paid; answers the path of its receipt. */
async function aPaid(body: Record<string, unknown> = {}, by: Shop = shop): Promise<string> {
  const asset = service.world.assets.USDT as StoredAsset;
  const { data } = await by.call('POST', '/payments', {
    body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/', assets: [{ assetId: asset.id, assetPriceUsd: '1' }], ...body },
  });
  const path = `/p/${String(data.paymentUid)}`;
  const payment = async () => (await service.ask('GET', `/api/v1/public/payments/${String(data.paymentUid)}`)).data as unknown as Shown;
  const [offer] = (await payment()).offers;
  let waiting = true;
  const selected = fetch(`${checkout.origin}${path}`, { method: 'POST', body: new URLSearchParams({ offerId: offer?.id ?? '' }), redirect: 'manual' }).finally(
    () => {
      waiting = false;
    },
  );
  while (waiting) await service.world.acknowledge();
  await selected;
  const address = (await payment()).offers[0]?.depositAddress ?? '';
  await service.mine([payTo(address, asset, (await payment()).offers[0]?.totalValue ?? '')]);
  await service.mine();
  expect((await payment()).status).toBe('SUCCESS');
  return `${path}/receipt`;
}
interface Shown {
  status: string;
  offers: { id: string; totalValue: string; depositAddress?: string }[];
}

async function open(path: string, init: RequestInit = {}, through: Listening = checkout): Promise<{ status: number; location: string | null; html: string }> {
  const answer = await fetch(`${through.origin}${path}`, { redirect: 'manual', ...init });
  return { status: answer.status, location: answer.headers.get('location'), html: await answer.text() };
}
const ask = (path: string, email: string, more: Record<string, string> = {}, through?: Listening) =>
  open(path, { method: 'POST', body: new URLSearchParams({ email, ...more }) }, through);
const sent = async (count: number) => expect.poll(() => mails().length).toBe(count);

const NO_ADDRESSES = [
  '',
  'nobody',
  'a@b@c.example',
  'a b@mail.example',
  'a@mail.example,b@mail.example',
  '"a@b"@mail.example',
  'víctim@mail.example',
  'victim@mаil.example',
  'a@mail.example\r\nBcc: b@mail.example',
  'a@mail.example\nBcc: b@mail.example',
  '<a@mail.example>',
  `${'x'.repeat(250)}@mail.example`,
];

describe('a receipt by mail', () => {
  it('is sent to the address that was typed, in the language of the payment, with a subject that no merchant wrote', async () => {
    const title = 'Win a prize at https://evil.example';
    const path = await aPaid({ title, language: 'es' });
    expect((await open(path)).html).toContain('data-part="by-mail"');
    const to = aMailbox();
    const answer = await ask(path, ` ${to.toUpperCase()} `);
    expect([answer.status, answer.location]).toEqual([303, `${path}?mailed`]);
    await sent(1);
    expect(mails()[0]).toMatchObject({ to, subject: 'Tu recibo de pago' });
    expect(mails()[0]?.text).toContain('Win a prize at https[:]//evil[.]example');
    expect((await open(`${path}?mailed`)).html).toContain('role="status"');
  });

  it('keeps the language that the page was in', async () => {
    const path = await aPaid();
    expect((await ask(path, aMailbox(), { lang: 'tr' })).location).toBe(`${path}?lang=tr&mailed`);
    await sent(1);
    expect(mails()[0]?.subject).toBe('Ödeme makbuzunuz');
  });

  it('is sent three times a day for a payment, also when they are asked for at once', async () => {
    const path = await aPaid();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(path, aMailbox())));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(POLICY.receiptMails);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(8 - POLICY.receiptMails);
    await sent(POLICY.receiptMails);
    await aDayPasses();
    expect((await ask(path, aMailbox())).status).toBe(303);
  });

  it('reaches one mailbox three times a day however its address is written, and the answer does not tell', async () => {
    const [first, second] = [await aPaid(), await aPaid()];
    const other = await aPaid({}, await service.aShop({ name: 'Hostile Ltd' }));
    const written = ['victim@mail.example', 'VICTIM@mail.example', 'vic.tim+1@mail.example', 'v.i.c.t.i.m+shop@mail.example', 'victim+2@Mail.example'];
    const answers = [];
    for (const [at, email] of written.entries()) answers.push(await ask([first, second, other][at % 3] as string, email));
    expect(answers.map(({ status, location }) => [status, location?.endsWith('?mailed')])).toEqual(written.map(() => [303, true]));
    await sent(POLICY.receiptMails);
    const rows = await service.world.database.sql<{ sent: boolean }[]>`select sent from receipt_mails order by at desc limit 5`;
    expect(rows.filter((row) => row.sent)).toHaveLength(POLICY.receiptMails);
  });

  it('reaches a mailbox three times by whichever name of its provider', async () => {
    const [first, second] = [await aPaid(), await aPaid()];
    for (const name of ['gmail', 'googlemail', 'GoogleMail', 'gmail']) await ask(name === 'gmail' ? first : second, `one.payer@${name}.com`);
    await sent(POLICY.receiptMails);
    const rows = await service.world.database.sql<{ sent: boolean }[]>`select sent from receipt_mails order by at desc limit 4`;
    expect(rows.filter((row) => row.sent)).toHaveLength(POLICY.receiptMails);
  });

  it('is sent one after the other for one gateway, so that none takes all connections to the mail server', async () => {
    const begun: string[] = [];
    const taken: (() => void)[] = [];
    const send = ({ to }: { to: string }): Promise<void> => {
      begun.push(to);
      return new Promise((resolve) => void taken.push(resolve));
    };
    const slow = await listenCheckout({ ...service.deps, mail: { send } });
    const [path, others] = [await aPaid(), await aPaid({}, await service.aShop({ name: 'Other Ltd' }))];
    const mailboxes = Array.from({ length: POLICY.receiptMails }, aMailbox);
    for (const to of mailboxes) await ask(path, to, {}, slow);
    const other = aMailbox();
    await ask(others, other, {}, slow);
    expect(begun).toEqual([mailboxes[0], other]);
    taken[0]?.();
    await expect.poll(() => begun.at(-1)).toBe(mailboxes[1]);
    taken[2]?.();
    await expect.poll(() => begun.length).toBe(mailboxes.length + 1);
    expect(begun.filter((to) => to !== other)).toEqual(mailboxes);
    for (const take of taken) take();
    await slow.close();
  });

  it('is sent a thousand times a day for one gateway, and to the payers of others as ever', async () => {
    const busy = await service.aShop({ name: 'Busy Ltd' });
    const path = await aPaid({}, busy);
    await service.world.database.sql`
      insert into receipt_mails (id, payment_id, gateway_id, address_hash, sent)
      select gen_random_uuid(), (select id from payments where gateway_id <> ${busy.id} limit 1), ${busy.id}, sha256(n::text::bytea), true from generate_series(1, ${POLICY.receiptMailsPerGateway}) n`;
    expect((await ask(path, aMailbox())).status).toBe(429);
    expect((await ask(await aPaid(), aMailbox())).status).toBe(303);
    await sent(1);
    await aDayPasses();
  });

  it('is not sent to what is no address, nor to several, nor to letters that look like others', async () => {
    const path = await aPaid();
    for (const email of NO_ADDRESSES) {
      const answer = await ask(path, email);
      expect([email, answer.status]).toEqual([email, 422]);
      expect(answer.html).toContain('role="alert"');
    }
    expect(mails()).toEqual([]);
    expect(await service.world.database.sql`select 1 from receipt_mails where payment_id = ${path.slice(3, 39)}`).toEqual([]);
  });

  it('leaves no address behind, and nothing at all after a day', async () => {
    const to = aMailbox();
    await ask(await aPaid(), to);
    await sent(1);
    const rows = JSON.stringify(await service.world.database.sql`select * from receipt_mails`);
    expect(rows).not.toContain('mail.example');
    expect(rows).not.toContain(Buffer.from(to).toString('hex'));
    await aDayPasses();
    await forgetReceiptMails(service.worker.db.sql, { seconds: POLICY.receiptMailSeconds, limit: 10_000 });
    expect(await service.world.database.sql`select 1 from receipt_mails`).toEqual([]);
  });

  it('cannot be asked for by a page of another site, nor for what was not paid', async () => {
    const path = await aPaid();
    const body = new URLSearchParams({ email: aMailbox() });
    expect((await open(path, { method: 'POST', body, headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    const { data } = await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/' } });
    const unpaid = await ask(`/p/${String(data.paymentUid)}/receipt`, aMailbox());
    expect([unpaid.status, unpaid.location]).toEqual([303, `/p/${String(data.paymentUid)}`]);
    expect(mails()).toEqual([]);
  });

  it('is not there in the sandbox, where paying costs nothing', async () => {
    const { data } = await shop.call('POST', '/payments', {
      body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/', isSandbox: true },
    });
    const path = `/p/${String(data.paymentUid)}`;
    const { offers } = (await service.ask('GET', `/api/v1/public${path.replace('/p/', '/payments/')}`)).data as unknown as Shown;
    for (const fields of [{ offerId: offers[0]?.id ?? '' }, { scenario: 'success' }])
      await open(path, { method: 'POST', body: new URLSearchParams(fields as Record<string, string>) });
    const receipt = await open(`${path}/receipt`);
    expect([receipt.status, receipt.html.includes('by-mail')]).toEqual([200, false]);
    expect((await ask(`${path}/receipt`, aMailbox())).status).toBe(404);
    expect(mails()).toEqual([]);
  });

  it('is not there where a deployment sends no mail', async () => {
    const path = await aPaid();
    const config = { ...service.deps.config, NODE_ENV: 'production' as const };
    const silent = await listenCheckout({ ...service.deps, config });
    const speaking = await listenCheckout({ ...service.deps, config: { ...config, SLUICE_SMTP_URL: 'smtp://mail.example' } });
    expect((await open(path, {}, silent)).html).not.toContain('by-mail');
    expect((await ask(path, aMailbox(), {}, silent)).status).toBe(404);
    expect((await open(path, {}, speaking)).html).toContain('by-mail');
    await Promise.all([silent.close(), speaking.close()]);
  });

  it('answers before a mail server does, and says nothing of what it says', async () => {
    const lines: unknown[] = [];
    const log = { ...service.deps.log, error: (line: unknown) => void lines.push(line), child: () => log } as unknown as typeof service.deps.log;
    let refuse: (error: Error) => void = () => undefined;
    const delivery = new Promise<void>((_, reject) => {
      refuse = reject;
    });
    const stuck = await listenCheckout({ ...service.deps, log, mail: { send: () => delivery } });
    const path = await aPaid();
    expect((await ask(path, 'nobody@mail.example', {}, stuck)).status).toBe(303);
    refuse(Object.assign(new Error('550 nobody@mail.example is unknown'), { code: 'EENVELOPE' }));
    await expect.poll(() => lines.length).toBe(1);
    expect(JSON.stringify(lines)).not.toContain('nobody@');
    await stuck.close();
  });
});

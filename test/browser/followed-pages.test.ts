import { randomUUID } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from '#test/contract/service.ts';
import { POLICY } from '#shared/core/policy.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aMember, serveConsole } from '#test/harness/console-stage.ts';
import { axeFindings } from '#test/harness/tab.ts';

const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let service: Service;
let shop: Shop;
let stranger: Shop;
let origin: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  service = await aService();
  [shop, stranger] = [await service.aShop(), await service.aShop()];
  const console = await serveConsole(service.deps, service.world.database);
  origin = console.origin;
  stop = async () => {
    await console.stop();
    await service.stop();
  };
});
afterAll(() => stop?.());

const member = (role: string, gatewayId: string | null = shop.id) =>
  aMember(service.world.database, { email: `${role}-${randomUUID()}@example.com`, gatewayId, role });
const asset = () => service.world.assets.USDT as StoredAsset;
/** A payment whose payer has its address, and how to pay it. */
async function waiting(): Promise<{ id: string; pay(): Promise<void> }> {
  const { paymentUid, payment } = await shop.payment({ amount: '49.90', webhookUrl: 'https://example.com/hook' });
  const address = await selectAddress(service, paymentUid, payment.offers.find(({ assetId }) => assetId === asset().id)?.id ?? '');
  return {
    id: paymentUid,
    async pay() {
      await service.mine([payTo(address, asset(), '49.9')]);
      await service.mine();
    },
  };
}
async function cashout(): Promise<string> {
  await shop.fund('USDT', '40');
  const body = { assetId: asset().id, amount: '12.5', address: DESTINATION };
  return String((await shop.signed('POST', '/merchant/settlements', { body })).data.id);
}

/** A stream of changes as it is sent, without a browser. */
async function changes(path: string, session: string): Promise<{ answer: IncomingMessage; told(): string; ended(): boolean; hangUp(): void }> {
  let [told, ended] = ['', false];
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${origin}${path}`, { headers: { cookie: `__Host-sluice=${session}`, accept: 'text/event-stream' }, agent: false }, resolve).on('error', reject);
  });
  answer.on('data', (bytes: Buffer) => (told += bytes.toString()));
  answer.on('close', () => (ended = true));
  return { answer, told: () => told, ended: () => ended, hangUp: () => void answer.destroy() };
}
const marksIn = (told: string) => [...told.matchAll(/^data: (.+)$/gm)].map(([, mark]) => mark);

describe('a stream of changes', () => {
  it('tells the mark that the page was drawn with, and another one once what it shows changed, and nothing else of it', async () => {
    const [session, { id, pay }] = [await member('owner'), await waiting()];
    const page = await fetch(`${origin}/g/${shop.id}/payments/${id}`, { headers: { cookie: `__Host-sluice=${session}` } }).then((one) => one.text());
    const drawn = /data-follow="([^"]+)" data-mark="([^"]+)"/.exec(page);
    const stream = await changes(String(drawn?.[1]), session);
    expect(stream.answer.headers['content-type']).toContain('text/event-stream');
    await expect.poll(() => marksIn(stream.told())).toEqual([drawn?.[2]]);
    await pay();
    await expect.poll(() => new Set(marksIn(stream.told())).size).toBeGreaterThan(1);
    expect(stream.told().replaceAll(/^data: [0-9a-f]{32}$/gm, '')).toMatch(/^(retry: \d+|:|\n)*$/);
    stream.hangUp();
  });

  it('is there for whoever may read the page, and nobody else', async () => {
    const [{ id }, cashoutId] = [await waiting(), await cashout()];
    const status = async (path: string, session: string) => {
      const { answer, hangUp } = await changes(path, session);
      hangUp();
      return answer.statusCode;
    };
    const [owner, cashier, foreign, operator] = [
      await member('owner'),
      await member('cashier'),
      await member('owner', stranger.id),
      await member('operator', null),
    ];
    const [payment, paid] = [`/g/${shop.id}/payments/${id}/changes`, `/g/${shop.id}/cashouts/${cashoutId}/changes`];
    expect([await status(payment, owner), await status(paid, owner)]).toEqual([200, 200]);
    expect([await status(payment, 'nobody'), await status(payment, foreign), await status(paid, cashier)]).toEqual([303, 404, 403]);
    expect(await status(`/g/${stranger.id}/payments/${id}/changes`, foreign), 'another gateway’s payment in one’s own').toBe(404);
    expect([await status(`/ops/payments/${id}/changes`, operator), await status(`/ops/payments/${id}/changes`, owner)]).toEqual([200, 404]);
  });

  it.each([
    ['the session ends', 'update sessions set ended_at = sluice_now() where person_id = $1'],
    ['the membership ends', 'update memberships set ended_at = sluice_now() where person_id = $1'],
    ['the role becomes one that may not look', `update memberships set role = 'cashier' where person_id = $1`],
  ])('ends when %s', async (_what, change) => {
    const { sql } = service.world.database;
    const [session, id] = [await member('owner'), await cashout()];
    const stream = await changes(`/g/${shop.id}/cashouts/${id}/changes`, session);
    await expect.poll(() => marksIn(stream.told()).length).toBe(1);
    const [{ personId }] = (await sql`select person_id from sessions order by created_at desc, id limit 1`) as unknown as [{ personId: string }];
    await sql.unsafe(change, [personId]);
    await expect.poll(stream.ended).toBe(true);
    expect(stream.told()).toContain('event: end');
  });

  it('is one of few that a person has: one more is refused, pages go on, and a closed one makes room', async () => {
    const [session, other, { id }] = [await member('owner'), await member('owner'), await waiting()];
    const path = `/g/${shop.id}/payments/${id}/changes`;
    const held = [];
    for (let one = 0; one < POLICY.streamsPerPerson; one++) held.push(await changes(path, session));
    const refused = await changes(path, session);
    expect([...held, refused].map(({ answer }) => answer.statusCode)).toEqual([...Array(POLICY.streamsPerPerson).fill(200), 429]);
    expect((await changes(path, other)).answer.statusCode, 'somebody else').toBe(200);
    expect((await fetch(`${origin}/g/${shop.id}/payments/${id}`, { headers: { cookie: `__Host-sluice=${session}` } })).status).toBe(200);
    held[0]?.hangUp();
    await expect.poll(async () => (await changes(path, session)).answer.statusCode).toBe(200);
  });
});

describeInBrowser('a page that follows what it shows', (open) => {
  const visit = async (path: string, { role = 'owner', gatewayId = shop.id as string | null, tab: opened = open() } = {}) => {
    const tab = await opened;
    await tab.page
      .context()
      .addCookies([{ name: '__Host-sluice', value: await member(role, gatewayId), url: 'https://localhost', secure: true, httpOnly: true, sameSite: 'Lax' }]);
    await tab.page.goto(`${origin}${path}`);
    return tab;
  };

  it('shows a payment as it is paid, without being loaded again, in the reader’s zone, and keeps unfolded what was unfolded', async () => {
    const { id, pay } = await waiting();
    const { page, requests } = await visit(`/g/${shop.id}/payments/${id}`);
    await page.locator('main[data-screen="payment"] h1').waitFor();
    await page.evaluate(() => Object.assign(window, { same: true }));
    await page.locator('details summary').first().click();
    await pay();
    await expect.poll(() => page.locator('.badge').first().innerText()).toMatch(/success/i);
    expect(await page.locator('.timeline').innerText()).toContain('49.9');
    expect(await page.evaluate(() => 'same' in window)).toBe(true);
    expect(await page.locator('details').first().getAttribute('open')).not.toBeNull();
    expect(await page.locator('time[data-moment="minute"]').first().innerText()).not.toContain('UTC');
    expect(await page.locator('[role="status"]').innerText()).not.toBe('');
    expect(await axeFindings(page)).toEqual([]);
    expect(requests.filter(({ type }) => type === 'document')).toHaveLength(1);
  });

  it('shows a cashout as it moves on, also to an operator', async () => {
    const id = await cashout();
    const [merchant, operator] = [await visit(`/g/${shop.id}/cashouts/${id}`), await visit(`/ops/cashouts/${id}`, { role: 'operator', gatewayId: null })];
    const seen = ({ page }: typeof merchant) => page.locator('main').getAttribute('data-mark');
    const before = [await merchant.page.locator('.timeline').innerText(), await seen(operator)];
    await service.world.database.sql`update settlements set dispatch_at = dispatch_at + interval '40 days' where id = ${id}`;
    await expect.poll(() => merchant.page.locator('.timeline').innerText()).not.toBe(before[0]);
    await expect.poll(() => seen(operator)).not.toBe(before[1]);
  });

  it('shows also what changed, and was told, while it was being read', async () => {
    const id = await cashout();
    const moveOn = () => service.world.database.sql`update settlements set dispatch_at = dispatch_at + interval '1 day' where id = ${id}`;
    const tab = await open();
    await tab.page.addInitScript(countMessages);
    const { page } = await visit(`/g/${shop.id}/cashouts/${id}`, { tab: Promise.resolve(tab) });
    const told = (times: number) => page.waitForFunction((wanted) => (window as unknown as Listening).told >= wanted, times);
    await told(1);
    let readings = 0;
    await page.route(page.url(), async (route) => {
      const answer = await route.fetch();
      readings += 1;
      if (readings === 1) {
        await moveOn();
        await told(3);
      }
      await route.fulfill({ response: answer });
    });
    await moveOn();
    await expect.poll(() => readings).toBeGreaterThan(1);
    const beside = await page.context().newPage();
    await beside.goto(page.url());
    const now = await beside.locator('main').getAttribute('data-mark');
    await expect.poll(() => page.locator('main').getAttribute('data-mark')).toBe(now);
  });

  it('disturbs nobody who fills something in, and shows what changed when they are done', async () => {
    const id = await cashout();
    const { page } = await visit(`/ops/cashouts/${id}`, { role: 'operator', gatewayId: null });
    const field = page.locator('main input:visible, main textarea:visible').first();
    if ((await field.count()) === 0) await page.locator('main details summary').first().click();
    await field.fill('1');
    const before = await page.locator('main').getAttribute('data-mark');
    await service.world.database.sql`update settlements set dispatch_at = dispatch_at + interval '1 day' where id = ${id}`;
    // Another page of the same reader has seen it by then.
    const beside = await page.context().newPage();
    await beside.goto(page.url());
    await expect.poll(() => beside.locator('main').getAttribute('data-mark')).not.toBe(before);
    expect([await page.locator('main').getAttribute('data-mark'), await field.inputValue()]).toEqual([before, '1']);
    await beside.close();
    await field.fill('');
    await field.blur();
    await expect.poll(() => page.locator('main').getAttribute('data-mark')).not.toBe(before);
  });

  const endSession = () =>
    service.world.database.sql`update sessions set ended_at = sluice_now() where person_id = (select person_id from sessions order by created_at desc limit 1)`;

  it('leads to the sign-in when its session ends elsewhere', async () => {
    const { id } = await waiting();
    const tab = await open();
    const followed = tab.page.waitForResponse((answer) => answer.url().endsWith('/changes'));
    const { page } = await visit(`/g/${shop.id}/payments/${id}`, { tab: Promise.resolve(tab) });
    await followed;
    await endSession();
    await page.locator('main[data-screen="sign-in"]').waitFor();
  });

  it('leads to the sign-in within seconds when its session has ended before it could be followed', async () => {
    const { id } = await waiting();
    const tab = await open({ tolerate: /not "text\/event-stream"/ });
    const streams: string[] = [];
    await tab.page.route(
      (url) => url.pathname.endsWith('/changes'),
      async (route) => {
        streams.push(route.request().url());
        if (streams.length === 1) await endSession();
        await route.continue();
      },
    );
    const { page } = await visit(`/g/${shop.id}/payments/${id}`, { tab: Promise.resolve(tab) });
    // Otherwise it would be half a minute.
    await page.locator('main[data-screen="sign-in"]').waitFor({ timeout: 25_000 });
    expect(streams.length).toBeGreaterThan(0);
  });
});

interface Listening {
  told: number;
}

/** Runs in the page before its own program: counts what its stream of changes says. */
function countMessages(): void {
  const listening = window as unknown as Listening;
  listening.told = 0;
  const Stream = window.EventSource;
  window.EventSource = class extends Stream {
    constructor(address: string | URL) {
      super(address);
      this.addEventListener('message', () => {
        listening.told += 1;
      });
    }
  };
}

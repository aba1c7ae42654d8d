import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { invitePerson, recoverPerson } from '#api/people/invitations.ts';
import { revokePerson } from '#api/people/revoke-person.ts';
import type { Doer } from '#api/store/console-actions.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aConsoleStage, type ConsoleStage } from '#test/harness/console-stage.ts';
import { POLICY } from '#shared/core/policy.ts';
import { totpCode } from '#test/harness/totp-code.ts';
import { findingsOf, framesGoBy, look } from './looking.ts';
import { acceptInvitation, givePasskeys } from './passkey.ts';

const BY: Doer = { kind: 'command', name: 'root@host' };
const EXPECTED = { tolerate: /status of 40[34]/ };

describeInBrowser('somebody who is invited to the console', (open) => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await aConsoleStage();
  });
  afterAll(() => stage?.stop());

  const invite = async (email: string): Promise<string> => {
    const { token } = await invitePerson(stage.deps, { email, gatewayId: stage.gatewayId, role: 'owner', by: BY });
    return `${stage.origin}/invitations/${token}`;
  };
  const screen = (page: Page, name: string) => page.locator(`main[data-screen="${name}"]`).waitFor();
  /** Accepts an invitation with a new authenticator. */
  const accept = async (page: Page, link: string) => {
    const made = await givePasskeys(page);
    await acceptInvitation(page, link);
    return made;
  };
  const cookie = async (page: Page) => (await page.context().cookies()).find(({ name }) => name === '__Host-sluice');

  it('accepts with a passkey, sees where they belong, signs out, and signs in again by the passkey alone', async () => {
    const { page } = await open();
    await accept(page, await invite('anna@example.com'));
    expect(await page.locator('main').innerText()).toContain('Acme <Books>');
    const first = await cookie(page);
    expect(first).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await screen(page, 'sign-in');
    expect(await cookie(page)).toBeUndefined();
    await page.getByRole('button', { name: /Sign in/ }).click();
    await screen(page, 'places');
    expect((await cookie(page))?.value).not.toBe(first?.value);
    const acts = await stage.database.sql<{ act: string; actor: string }[]>`select act, actor from console_actions where actor_kind = 'person'`;
    expect(acts).toEqual([{ act: 'invitation.accept', actor: 'anna@example.com' }]);
  });

  it('can press what asks for a passkey only once the program that asks is there', async () => {
    const { page } = await open();
    await accept(page, await invite('jo@example.com'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await screen(page, 'sign-in');
    const held: (() => Promise<void>)[] = [];
    await page.route('**/*.js', (route) => void held.push(() => route.continue()));
    await page.reload({ waitUntil: 'commit' });
    await screen(page, 'sign-in');
    const pressed = page.getByRole('button', { name: /Sign in/ }).click();
    await expect.poll(() => held.length).toBe(1);
    await page.evaluate(framesGoBy);
    await held[0]?.();
    await pressed;
    await screen(page, 'places');
  });

  it('finds that a link is good once, however often it was looked at before', async () => {
    const link = await invite('ben@example.com');
    for (let scanned = 0; scanned < 3; scanned++) expect((await fetch(link)).status).toBe(200);
    await accept((await open()).page, link);
    const { page } = await open(EXPECTED);
    await page.goto(link);
    await screen(page, 'problem');
    const used = await fetch(link);
    const unknown = await fetch(link.replace(/[^/]+$/, 'A'.repeat(43)));
    const body = async (answer: Response) => (await answer.text()).replaceAll(/[0-9a-f-]{36}/g, 'id');
    expect([used.status, await body(used)]).toEqual([unknown.status, await body(unknown)]);
  });

  it('adds a passkey and removes one, never the last, and ends a session that somebody stole', async () => {
    const { page } = await open();
    const first = await accept(page, await invite('cleo@example.com'));
    await page.goto(`${stage.origin}/profile`);
    await expect.poll(() => page.locator('[data-part="passkeys"] li').count()).toBe(1);
    expect(await page.getByRole('button', { name: /Remove/ }).count()).toBe(0);
    // The new one is made with another authenticator, and the old one is asked to say that it is theirs.
    await first.present(false);
    const second = await givePasskeys(page, 'usb');
    await page.route('**/profile/passkeys/proof', async (route) => {
      await second.present(false);
      await first.present(true);
      await route.continue();
    });
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await expect.poll(() => page.locator('[data-part="passkeys"] li').count()).toBe(2);
    await page
      .getByRole('button', { name: /Remove/ })
      .first()
      .click();
    await expect.poll(() => page.locator('[data-part="passkeys"] li').count()).toBe(1);

    const stolen = { cookie: `__Host-sluice=${(await cookie(page))?.value}` };
    const asThief = () => fetch(`${stage.origin}/profile`, { headers: stolen, redirect: 'manual' }).then(({ status }) => status);
    expect(await asThief()).toBe(200);
    const other = (await open()).page;
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await screen(page, 'sign-in');
    expect(await asThief()).toBe(303);
    await other.goto(`${stage.origin}/profile`);
    await screen(other, 'sign-in');
  });

  it('accepts a second place as who they are: a link alone adds no passkey to a person who has one', async () => {
    const { page } = await open();
    await accept(page, await invite('hal@example.com'));
    const { token } = await invitePerson(stage.deps, { email: 'hal@example.com', gatewayId: null, role: 'auditor', by: BY });
    const link = `${stage.origin}/invitations/${token}`;
    const thief = (await open(EXPECTED)).page;
    await thief.goto(link);
    await thief.getByText('signs in here already').waitFor();
    const form = { method: 'POST', headers: { origin: stage.origin, 'content-type': 'application/x-www-form-urlencoded' }, redirect: 'manual' } as const;
    expect((await fetch(`${link}/options`, form)).status).toBe(409);
    expect((await fetch(link, { ...form, body: 'credential={}' })).status).toBe(409);
    await page.goto(link);
    await page.getByRole('button', { name: 'Accept' }).click();
    await screen(page, 'places');
    expect(await page.locator('main').innerText()).toContain('This deployment');
    expect(await stage.database.sql`select 1 from passkeys where person_id = (select id from people where email = 'hal@example.com')`).toHaveLength(1);
  });

  it('sets up an authenticator with a passkey, and signs in where there is none by a mailed link and a code, then by one from paper', async () => {
    const { page } = await open();
    await accept(page, await invite('ina@example.com'));
    await page.goto(`${stage.origin}/profile`);
    await page.getByRole('button', { name: 'Set up an authenticator' }).click();
    await screen(page, 'authenticator');
    await look(page, 'authenticator');
    const secret = (await page.locator('[data-part="secret"]').innerText()).replaceAll(/\s/g, '');
    // Never one that is on its way out: where half a minute ends meanwhile, it still counts.
    const step = (from: number) => totpCode(secret, Math.floor(Date.now() / 1_000) + from * POLICY.totpStepSeconds);
    await page.getByLabel(/Six digits/).fill(step(0));
    await page.getByRole('button', { name: 'Use it' }).click();
    await screen(page, 'recovery-codes');
    await look(page, 'recovery-codes');
    const codes = await page.locator('[data-part="recovery-codes"] code').allInnerTexts();
    expect(new Set(codes).size).toBe(10);
    await page.getByRole('link', { name: 'I have them' }).click();
    await screen(page, 'profile');
    expect(await page.locator('[data-part="authenticator"]').innerText()).toContain('10 codes');
    await look(page, 'profile-authenticator');

    // Elsewhere, without scripts and without a passkey.
    const elsewhere = (await open({ javaScriptEnabled: false, tolerate: /status of 403/ })).page;
    const link = async (): Promise<string> => {
      await elsewhere.goto(`${stage.origin}/sign-in`);
      await elsewhere.getByText('no passkey here').click();
      await elsewhere.getByLabel('Your e-mail address').fill('ina@example.com');
      await elsewhere.getByRole('button', { name: 'Mail me a link' }).click();
      await screen(elsewhere, 'link-sent');
      await expect.poll(() => stage.mails.length).toBe(1);
      return /http\S+/.exec(stage.mails.pop()?.text ?? '')?.[0] ?? '';
    };
    const first = await link();
    for (let scanned = 0; scanned < 2; scanned++) expect((await fetch(first)).status).toBe(200);
    await elsewhere.goto(first);
    await screen(elsewhere, 'link');
    await elsewhere.getByLabel(/Six digits/).fill('000000');
    await elsewhere.getByRole('button', { name: 'Sign in' }).click();
    await elsewhere.getByRole('alert').filter({ hasText: 'not right' }).waitFor();
    await elsewhere.getByLabel(/Six digits/).fill(step(1));
    await elsewhere.getByRole('button', { name: 'Sign in' }).click();
    await screen(elsewhere, 'places');
    await elsewhere.getByRole('button', { name: 'Sign out' }).click();
    await elsewhere.goto(await link());
    await elsewhere.getByLabel(/Six digits/).fill(codes[3] as string);
    await elsewhere.getByRole('button', { name: 'Sign in' }).click();
    await screen(elsewhere, 'places');
    await page.reload();
    expect(await page.locator('[data-part="authenticator"]').innerText()).toContain('9 codes');
    await page.getByRole('button', { name: 'Remove the authenticator' }).click();
    await page.getByRole('button', { name: 'Set up an authenticator' }).waitFor();
  });

  it('gets in again by a recovery link, which ends every passkey and session from before', async () => {
    const { page } = await open();
    await accept(page, await invite('dora@example.com'));
    const { token } = await recoverPerson(stage.deps, { email: 'dora@example.com', by: BY });
    const again = (await open()).page;
    await accept(again, `${stage.origin}/invitations/${token}`);
    await page.goto(`${stage.origin}/`);
    await screen(page, 'sign-in');
  });

  it('is told nothing more than a stranger when the passkey was removed, and is out at once when revoked', async () => {
    const { page } = await open(EXPECTED);
    await accept(page, await invite('eli@example.com'));
    await revokePerson(stage.deps, { email: 'eli@example.com', where: 'everywhere', by: BY });
    await page.goto(`${stage.origin}/profile`);
    await screen(page, 'sign-in');
    await stage.database.sql`update passkeys set removed_at = now() where person_id = (select id from people where email = 'eli@example.com')`;
    await page.getByRole('button', { name: /Sign in/ }).click();
    await page.getByRole('alert').filter({ hasText: 'did not work' }).waitFor();
  });

  it('is given a new session at every sign-in: one that was planted stays worthless', async () => {
    const { page } = await open();
    const planted = 'P'.repeat(43);
    await page.context().addCookies([{ name: '__Host-sluice', value: planted, url: 'https://localhost', secure: true, httpOnly: true }]);
    await accept(page, await invite('finn@example.com'));
    expect((await cookie(page))?.value).not.toBe(planted);
    expect((await fetch(`${stage.origin}/profile`, { headers: { cookie: `__Host-sluice=${planted}` }, redirect: 'manual' })).status).toBe(303);
  });

  it('changes nothing by a form of another page, nor by an answer that was used', async () => {
    const { page } = await open();
    await accept(page, await invite('gus@example.com'));
    const headers = { cookie: `__Host-sluice=${(await cookie(page))?.value}`, 'content-type': 'application/x-www-form-urlencoded' };
    const send = (more: Record<string, string>) =>
      fetch(`${stage.origin}/sign-out`, { method: 'POST', headers: { ...headers, ...more }, redirect: 'manual' }).then(({ status }) => status);
    for (const foreign of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
    ] as Record<string, string>[])
      expect(await send(foreign), JSON.stringify(foreign)).toBe(403);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await screen(page, 'sign-in');
    const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/sign-in'));
    await page.getByRole('button', { name: /Sign in/ }).click();
    const replay = (await sent).postData() ?? '';
    await screen(page, 'places');
    const again = await fetch(`${stage.origin}/sign-in`, { method: 'POST', headers: { ...headers, origin: stage.origin }, body: replay, redirect: 'manual' });
    expect([again.status, again.headers.get('set-cookie')]).toEqual([403, null]);
  });

  it('reads every page without a finding of axe and without scrolling sideways, on a desk and on a phone, in light and dark', async () => {
    const { page } = await open(EXPECTED);
    const link = await invite('looks@example.com');
    const found: string[] = [];
    const looks = async (what: string) => void found.push(...(await findingsOf(page, what)));
    await page.goto(`${stage.origin}/sign-in`);
    await looks('sign-in');
    await page.goto(link);
    await looks('invitation');
    await accept(page, link);
    await looks('places');
    await page.goto(`${stage.origin}/profile`);
    await looks('profile');
    await page.goto(`${stage.origin}/nowhere`);
    await looks('problem');
    expect(found).toEqual([]);
  });
});

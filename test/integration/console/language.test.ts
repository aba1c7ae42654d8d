import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsoleStage, aMember, type ConsoleStage } from '#test/harness/console-stage.ts';

let stage: ConsoleStage;
let session: string;
beforeAll(async () => {
  stage = await aConsoleStage();
  session = `__Host-sluice=${await aMember(stage.database, { email: 'anna@example.com', gatewayId: stage.gatewayId, role: 'owner' })}`;
});
afterAll(() => stage?.stop());

const read = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${stage.origin}${path}`, { headers, redirect: 'manual' });
  const body = await answer.text();
  return { status: answer.status, language: /<html lang="([^"]+)" dir="ltr">/.exec(body)?.[1], title: /<h1>([^<]+)/.exec(body)?.[1] };
};
const choose = async (lang: string, { referer, origin = stage.origin }: { referer?: string; origin?: string } = {}) => {
  const headers = { origin, ...(referer !== undefined && { referer }) };
  const { status, headers: given } = await fetch(`${stage.origin}/language`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ lang }),
    redirect: 'manual',
  });
  return { status, to: given.get('location'), cookies: given.getSetCookie() };
};

describe('a page of the console', () => {
  it.each([
    [undefined, undefined, 'en', 'Sign in'],
    ['es-MX,es;q=0.9,en;q=0.5', undefined, 'es', 'Iniciar sesión'],
    ['de,en;q=0.5', undefined, 'en', 'Sign in'],
    ['es', 'lang=en', 'en', 'Sign in'],
    ['en', 'a=b; lang=es', 'es', 'Iniciar sesión'],
    ['es', 'lang=xx', 'es', 'Iniciar sesión'],
    ['en', 'lang=<script>', 'en', 'Sign in'],
  ])('is, for Accept-Language %s and cookie %s, in %s', async (accepted, cookie, language, title) => {
    const headers = { ...(accepted !== undefined && { 'accept-language': accepted }), ...(cookie !== undefined && { cookie }) };
    expect(await read('/sign-in', headers)).toEqual({ status: 200, language, title });
  });

  it('says in that language what went wrong too', async () => {
    const headers = { 'accept-language': 'es', cookie: session };
    expect(await read('/nowhere', headers)).toEqual({ status: 404, language: 'es', title: 'Aquí no hay nada' });
    expect(await read(`/g/${stage.gatewayId}/payments?after=x`, headers)).toMatchObject({ language: 'es', title: 'Se ha rechazado' });
  });
});

describe('choosing a language', () => {
  it('is kept in a cookie, and leads back to the page that it was chosen on', async () => {
    const path = `/g/${stage.gatewayId}/payments?status=PENDING`;
    const chosen = await choose('es', { referer: `${stage.origin}${path}` });
    expect(chosen).toMatchObject({ status: 303, to: path });
    expect(chosen.cookies).toEqual([expect.stringMatching(/^lang=es; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=\d+$/)]);
  });

  it.each(['https://evil.example//elsewhere.example', '//elsewhere.example', '/sign-in/mail', 'nonsense', undefined])(
    'leads to the beginning from %s, which is no page to go back to',
    async (referer) => {
      expect(await choose('en', referer === undefined ? {} : { referer: referer.startsWith('/') ? `${stage.origin}${referer}` : referer })).toMatchObject({
        status: 303,
        to: '/',
      });
    },
  );

  it('takes no language that is not there, and no form of another site', async () => {
    for (const lang of ['xx', '', 'es; Domain=example.com', 'x'.repeat(500)]) expect(await choose(lang), lang).toMatchObject({ status: 422, cookies: [] });
    expect(await choose('es', { origin: 'https://evil.example' })).toMatchObject({ status: 403, cookies: [] });
  });
});

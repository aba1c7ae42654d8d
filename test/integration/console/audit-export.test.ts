import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { makeNextPart } from '#api/exports/make-exports.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import type { GatewayActName } from '#api/people/act-names.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMemberWithCodes, type Member, serveConsole } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';

let service: Service;
let desk: PeopleDesk;
let served: Awaited<ReturnType<typeof serveConsole>>;
let shop: Shop;
let owner: Member;

beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:3002' } }));
  desk = openPeopleDesk(service.deps);
  served = await serveConsole(service.deps, service.world.database);
  [shop] = [await service.aShop({}, ['report:export']), await service.aShop()];
  owner = await member('owner');
  const change = { underAcceptableDiff: ['0', '1'], timeoutMinutes: ['', '30'] };
  await run(owner, 'settings-change', { change: JSON.stringify(change) }, owner.code());
  await run(owner, 'allowlist-add', { list: 'api', address: '203.0.113.9', note: '=HYPERLINK("x")' }, owner.code(1));
});
afterAll(async () => {
  await served?.stop();
  await service?.stop();
});

const member = (role: string, gatewayId: string | null = shop.id): Promise<Member> =>
  aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role, gatewayId });
const run = ({ cookie }: Member, act: GatewayActName, fields: Record<string, string>, proof = '') =>
  desk.doGatewayAct({ cookie, address: ADDRESS, gateway: shop.id, act, fields, proof });
const get = (path: string, { cookie }: Member) =>
  fetch(`${served.origin}${path}`, { redirect: 'manual', headers: { cookie: `__Host-sluice=${cookie}`, 'sec-fetch-site': 'same-origin' } });
async function exported(format: string): Promise<string> {
  await run(owner, 'export-create', { kind: 'audit', format });
  while (await makeNextPart(service.worker));
  const [row] = await service.world.database.sql<
    { id: string }[]
  >`select id from exports where gateway_id = ${shop.id} and format = ${format} order by asked_at desc limit 1`;
  return `/g/${shop.id}/exports/${row?.id}/file`;
}

/** Runs what the documentation says, on a file; answers what it printed, or why it stopped. */
async function verify(text: string, ...kept: string[]): Promise<string> {
  const folder = await mkdtemp(join(inject('services').directory, 'audit-'));
  const script = /```js\n(\/\/ node verify\.mjs[\s\S]*?)```/.exec(await readFile('ops/docs/console.md', 'utf8'))?.[1] ?? expect.fail('no script');
  await Promise.all([writeFile(join(folder, 'verify.mjs'), script), writeFile(join(folder, 'audit.jsonl'), text)]);
  return promisify(execFile)(process.execPath, [join(folder, 'verify.mjs'), join(folder, 'audit.jsonl'), ...kept]).then(
    ({ stdout }) => stdout,
    (error: { stderr: string }) => error.stderr,
  );
}

describe('the record of acts as a file', () => {
  it('holds before and after, and is verified by what the documentation says, which finds whatever was changed', async () => {
    const text = await (await get(await exported('jsonl'), owner)).text();
    const rows = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.find(({ act }) => act === 'settings.change')).toMatchObject({
      actor: owner.email,
      address: ADDRESS,
      before: { underAcceptableDiff: '0', timeoutMinutes: '' },
      after: { underAcceptableDiff: '1', timeoutMinutes: '30' },
    });
    expect(rows.every(({ gatewayId }) => gatewayId === shop.id)).toBe(true);
    expect(await verify(text)).toContain(`${rows.length} rows are whole`);
    expect(await verify(text.replace('"timeoutMinutes":"30"', '"timeoutMinutes":"31"'))).toMatch(/shows something else|does not say/);
    expect(await verify(text.replaceAll(owner.email, 'nobody@example.com'))).toMatch(/does not say/);
    expect(await verify(text.replace(/"at":"[^"]+"/, '"at":"long ago"'))).toMatch(/shows something else/);
    expect(await verify(`${text}${text.split('\n')[0]}\n`)).toMatch(/is there twice/);
  });

  it('meets a mark that was kept only with every row up to it, whatever hashes somebody computes anew', async () => {
    const text = await (await get(await exported('jsonl'), owner)).text();
    const lines = text.trim().split('\n');
    const mark = / the mark is (\S+)/.exec(await verify(text))?.[1] ?? expect.fail('no mark');
    expect(await verify(text, mark)).toContain('rows are whole');
    const forged = JSON.parse(lines[0] as string) as { content: string; hash: string; actor: string };
    forged.content = forged.content.replace(JSON.stringify(forged.actor), '"nobody@example.com"');
    const rewritten = { ...forged, actor: 'nobody@example.com', hash: createHash('sha256').update(forged.content).digest('hex') };
    // The newest row is first, so none behind it holds its hash.
    const whole = [JSON.stringify(rewritten), ...lines.slice(1)].join('\n');
    expect(await verify(whole)).toContain('rows are whole');
    for (const other of [whole, lines.slice(1).join('\n'), lines.slice(0, -1).join('\n')])
      expect(await verify(other, mark)).toMatch(/are not those that they were/);
    const other = await member('owner');
    await run(other, 'allowlist-add', { list: 'api', address: '203.0.113.10' }, other.code());
    expect(await verify(await (await get(await exported('jsonl'), owner)).text(), mark)).toContain('rows are whole');
  });

  it('is a spreadsheet too, in which nothing is a formula', async () => {
    const text = await (await get(await exported('csv'), owner)).text();
    expect(text).toMatch(/^seq,at,actorKind,actor,/);
    expect(text).not.toMatch(/(^|,|\n)"?[=+@]/);
  });

  it('is for owners alone: no other role asks for it, sees it or downloads it, and no key', async () => {
    const path = await exported('jsonl');
    const finance = await member('finance');
    await expect(run(finance, 'export-create', { kind: 'audit', format: 'csv' })).rejects.toMatchObject({ code: 'forbidden' });
    expect((await get(path, finance)).status).toBe(404);
    expect(await (await get(`/g/${shop.id}/reports`, finance)).text()).not.toContain('/exports/');
    for (const role of ['approver', 'developer', 'support']) expect([role, (await get(path, await member(role))).status]).toEqual([role, 403]);
    const asked = await shop.signed('POST', '/exports', { body: { kind: 'audit' } });
    expect([asked.status, asked.error.code]).toEqual([403, 'forbidden']);
    const id = /exports\/([^/]+)/.exec(path)?.[1];
    expect((await shop.signed('GET', `/exports/${id}`)).status).toBe(404);
    expect((await shop.signed('GET', '/exports')).data.items).toEqual([]);
  });

  it('of the deployment is the whole chain, for operators and auditors, and for nobody else', async () => {
    const auditor = await member('auditor', null);
    const answer = await get('/ops/audit/acts/file?format=jsonl', auditor);
    const text = await answer.text();
    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([200, 'attachment; filename="acts.jsonl"']);
    const [{ count }] = (await service.world.database.sql`select count(*)::int as count from console_actions`) as unknown as [{ count: number }];
    expect(await verify(text)).toContain(`${count} rows are whole, from row 1 on, in pieces: 1;`);
    // A row that was taken out is missed between its neighbours.
    const [, second = ''] = text.split('\n');
    expect(await verify(text.replace(`${second}\n`, ''))).toContain('in pieces: 2;');
    expect(await verify(text.replace(second, second.replace(/"seq":2,/, '"seq":1,')))).toMatch(/shows something else/);
    expect((await get('/ops/audit/acts/file', owner)).status).toBe(404);
  });
});

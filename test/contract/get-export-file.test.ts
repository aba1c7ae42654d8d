import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { EXPORT_KINDS } from '#api/exports/kinds.ts';
import { makeNextPart } from '#api/exports/make-exports.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import type { Deps } from '#api/deps.ts';
import { POLICY } from '#shared/core/policy.ts';
import { describeOperation } from './describe-operation.ts';
import type { Service, Shop } from './service.ts';

/** A service whose worker can be asked to do one thing at a time. */
async function make({ worker }: Service): Promise<void> {
  while (await makeNextPart(worker));
}

async function ask(shop: Shop, body: object): Promise<Record<string, string>> {
  const made = await shop.signed('POST', '/exports', { body });
  expect(made.status, made.text).toBe(202);
  return { exportId: String(made.data.exportId) };
}

/** So many payments of a shop, copies of one, each a second older than the one before. */
async function copies({ world }: Service, shop: Shop, count: number, body: Record<string, unknown> = {}): Promise<void> {
  const { paymentUid } = await shop.payment(body);
  const { sql } = world.database;
  const names = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns where table_name = 'payments' and is_generated = 'NEVER' and column_name not in ('id', 'created_at')`;
  const list = names.map(({ name }) => `p.${name}`).join(', ');
  await sql.unsafe(
    `insert into payments (id, created_at, ${names.map(({ name }) => name).join(', ')})
     select gen_random_uuid(), p.created_at - make_interval(secs => n), ${list} from payments p, generate_series(1, ${count - 1}) n where p.id = '${paymentUid}'`,
  );
}

describeOperation('getExportFile', {
  200: ({ service, send, anotherShop }) => {
    it('adds up, as a spreadsheet does, to the statement of the month', async () => {
      const shop = await anotherShop();
      await shop.fund('USDT', '12.345678');
      await shop.fund('USDT', '7');
      const [{ month }] = (await service.world.database.sql`select to_char(sluice_now() at time zone 'UTC', 'YYYY-MM') as month`) as unknown as [
        { month: string },
      ];
      const params = await ask(shop, { kind: 'ledger', from: `${month}-01T00:00:00Z`, columns: ['account', 'asset', 'amount'] });
      await make(service);
      const answer = await send({ from: shop, params });
      expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="ledger-\d{4}-\d{2}-\d{2}-[0-9a-f]{8}\.csv"$/);
      const [head, ...lines] = answer.text.trimEnd().split('\r\n');
      expect(head).toBe('account,asset,amount');
      const sum = lines.reduce((total, line) => total + BigInt(Math.round(Number(line.split(',')[2]) * 1e6)), 0n);
      const statement = await shop.signed('GET', `/statements/${month}`);
      const [item] = statement.data.items as { asset: string; closing: string }[];
      expect(lines.length).toBeGreaterThan(1);
      expect(Number(sum) / 1e6).toBeCloseTo(Number(item?.closing), 6);
    });

    it('is made of every list that there is, with a row for each and all its columns', async () => {
      const shop = await anotherShop();
      await shop.fund('USDT', '10');
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
      expect((await shop.signed('POST', '/merchant/settlements', { body })).status).toBe(200);
      // The record of acts is for people.
      expect((await shop.signed('POST', '/exports', { body: { kind: 'audit', format: 'jsonl' } })).status).toBe(403);
      for (const [kind, { columns }] of Object.entries(EXPORT_KINDS).filter(([kind]) => kind !== 'audit')) {
        const params = await ask(shop, { kind, format: 'jsonl' });
        await make(service);
        const answer = await send({ from: shop, params });
        expect([kind, answer.status], answer.text).toEqual([kind, 200]);
        const [row] = answer.text.split('\n');
        expect([kind, Object.keys(JSON.parse(row as string))]).toEqual([kind, [...columns]]);
      }
    });

    it('holds what a merchant stored as it was sent, guarded so that no spreadsheet runs it', async () => {
      const shop = await anotherShop();
      await shop.payment({ webhookParams: { order: '=1+1', quote: 'a"b,c\r\n' } });
      const [csv, jsonl] = [
        await ask(shop, { kind: 'payments', columns: ['webhookParams', 'paylinkId', 'amount'] }),
        await ask(shop, { kind: 'payments', format: 'jsonl', columns: ['webhookParams', 'amount'] }),
      ];
      await make(service);
      expect((await send({ from: shop, params: csv })).text).toBe(
        'webhookParams,paylinkId,amount\r\n"{""order"":""=1+1"",""quote"":""a\\""b,c\\r\\n""}",,10\r\n',
      );
      expect(JSON.parse((await send({ from: shop, params: jsonl })).text)).toEqual({ webhookParams: { order: '=1+1', quote: 'a"b,c\r\n' }, amount: '10' });
    });

    it('is the same, to the byte, after its maker was killed again and again in the middle of a part', async () => {
      const shop = await anotherShop();
      await copies(service, shop, 3_500);
      const columns = ['paymentUid', 'createdAt', 'amount'];
      const whole = await ask(shop, { kind: 'payments', columns });
      await make(service);
      const cut = await ask(shop, { kind: 'payments', columns });
      /** Dies after everything is written and before it is committed, every other time. */
      let run = 0;
      const dying: Deps = {
        ...service.worker,
        db: {
          ...service.worker.db,
          transaction: ((work) =>
            service.worker.db.transaction(async (tx) => {
              const result = await work(tx);
              run += 1;
              if (run % 2 === 1) throw new Error('killed');
              return result;
            })) as Deps['db']['transaction'],
        },
      };
      for (let times = 0; times < 20; times++) await makeNextPart(dying).catch(() => undefined);
      const [first, second] = [(await send({ from: shop, params: whole })).text, (await send({ from: shop, params: cut })).text];
      expect(second.split('\r\n')).toHaveLength(3_502);
      expect(second).toBe(first);
    });

    it('is kept in pieces that a process can hold many of, however large its rows are: who downloads slowly fills nobody’s memory', async () => {
      const shop = await anotherShop();
      const order = Array.from({ length: 30 }, (_, at) => `${at}-`.repeat(600)).join('\u00e9');
      await copies(service, shop, 120, { webhookParams: { order } });
      const params = await ask(shop, { kind: 'payments', format: 'jsonl', columns: ['paymentUid', 'webhookParams'] });
      await make(service);
      const rows = (await send({ from: shop, params })).text.trimEnd().split('\n');
      expect(rows.map((row) => JSON.parse(row).webhookParams.order === order)).toEqual(Array(120).fill(true));
      const pieces = await service.world.database.sql<{ body: Uint8Array }[]>`select body from export_parts where export_id = ${params.exportId as string}`;
      const sizes = pieces.map(({ body }) => gunzipSync(body).length);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(POLICY.exportPieceBytes);
      expect(sizes.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(10 * POLICY.exportPieceBytes);
    });

    it('is made for a small gateway after one part of a large one’s, whoever asked first', async () => {
      const [large, small] = [await anotherShop(), await anotherShop()];
      await copies(service, large, 5_000);
      await small.payment();
      const [long, short] = [await ask(large, { kind: 'payments' }), await ask(small, { kind: 'payments' })];
      for (let parts = 0; parts < 2; parts++) await makeNextPart(service.worker);
      expect((await send({ from: small, params: short })).status).toBe(200);
      expect((await send({ from: large, params: long })).status).toBe(409);
      await make(service);
      expect((await send({ from: large, params: long })).text.split('\r\n')).toHaveLength(5_002);
    });

    it('is gone, part by part, after seven days', async () => {
      const shop = await anotherShop();
      const params = await ask(shop, { kind: 'payments' });
      await make(service);
      await service.world.database
        .sql`update exports set asked_at = asked_at - make_interval(days => ${POLICY.exportsKeptDays}) where id = ${params.exportId as string}`;
      expect(await periodicWork['forget-exports'].run(service.worker)).toBe(1);
      expect((await send({ from: shop, params })).status).toBe(404);
      expect(await service.world.database.sql`select 1 from export_parts where export_id = ${params.exportId as string}`).toEqual([]);
    });
  },
  206: ({ send, service, anotherShop }) => {
    it('is the rest of the file, across its parts, and the whole file when that is another one', async () => {
      const shop = await anotherShop();
      await copies(service, shop, 1_500);
      const params = await ask(shop, { kind: 'payments', columns: ['paymentUid'] });
      await make(service);
      const whole = await send({ from: shop, params });
      const etag = whole.headers.get('etag') as string;
      const size = whole.text.length;
      for (const [range, from, to] of [
        ['bytes=0-9', 0, 10],
        ['bytes=100-45000', 100, 45_001],
        ['bytes=37000-', 37_000, size],
        ['bytes=-7', size - 7, size],
        [`bytes=5-${size * 2}`, 5, size],
      ] as const) {
        const part = await send({ from: shop, params, headers: { range, 'if-range': etag } });
        expect([part.status, part.headers.get('content-range')], range).toEqual([206, `bytes ${from}-${to - 1}/${size}`]);
        expect(part.text, range).toBe(whole.text.slice(from, to));
      }
      expect((await send({ from: shop, params, headers: { range: 'bytes=0-9', 'if-range': '"another"' } })).status).toBe(200);
      for (const range of ['bytes=5-1', 'bytes=-', 'lines=1-2', 'bytes=0-1,5-9', 'bytes=9'.repeat(50)])
        expect([range, (await send({ from: shop, params, headers: { range } })).status]).toEqual([range, 200]);
    });
  },
  304: ({ send, example }) => {
    it('is all there is to say to somebody who has it', async () => {
      const { params = {} } = await example();
      const etag = (await send({ params })).headers.get('etag') as string;
      const again = await send({ params, headers: { 'if-none-match': `"other", W/${etag}` } });
      expect([again.status, again.text]).toEqual([304, '']);
    });
  },
  404: ({ send, example, anotherShop }) => {
    it('does not know another gateway’s', async () => {
      const [{ params = {} }, other] = [await example(), await anotherShop()];
      expect((await send({ params, from: other })).text).toBe((await send({ from: other })).text);
    });
  },
  409: ({ send, anotherShop }) => {
    it('is not there before it is ready', async () => {
      const shop = await anotherShop();
      expect((await send({ from: shop, params: await ask(shop, { kind: 'payments' }) })).error.code).toBe('conflict');
    });
  },
  416: ({ send, example }) => {
    it('says how long the file is to who asks for what is behind its end', async () => {
      const { params = {} } = await example();
      const size = (await send({ params })).text.length;
      const answer = await send({ params, headers: { range: `bytes=${size}-` } });
      expect([answer.status, answer.headers.get('content-range'), answer.text]).toEqual([416, `bytes */${size}`, '']);
    });
  },
});

import { expect, it } from 'vitest';
import { POLICY } from '#shared/core/policy.ts';
import { describeOperation } from './describe-operation.ts';

describeOperation('createExport', {
  202: ({ send, anotherShop, service }) => {
    it('is made of what was asked for, until no later than now, and once for one Idempotency-Key', async () => {
      const shop = await anotherShop();
      const body = {
        kind: 'ledger',
        format: 'jsonl',
        from: '2026-01-01T00:00:00Z',
        to: '2999-01-01T00:00:00Z',
        columns: ['amount', 'at'],
        filter: { asset: 'USDT' },
      };
      const made = await send({ from: shop, body, idempotencyKey: 'one' });
      expect(made.data).toMatchObject({ ...body, from: '2026-01-01T00:00:00.000Z', to: made.data.createdAt, state: 'making', createdBy: expect.any(String) });
      expect((await send({ from: shop, body, idempotencyKey: 'one' })).text).toBe(made.text);
      expect(await service.world.database.sql`select 1 from exports where gateway_id = ${shop.id}`).toHaveLength(1);
    });
  },
  409: ({ send, anotherShop, service }) => {
    it('refuses more than are made at once, and more than are kept', async () => {
      const shop = await anotherShop();
      const asked = await Promise.all(Array.from({ length: 5 }, () => send({ from: shop, body: { kind: 'payments' } })));
      expect(asked.map(({ status }) => status).sort()).toEqual([202, 202, 409, 409, 409]);
      await service.world.database.sql`
        insert into exports (id, gateway_id, kind, format, columns, filter, until, state) select gen_random_uuid(), ${shop.id}, 'ledger', 'csv', '{at}', '{}', now(), 'ready'
        from generate_series(1, ${POLICY.exportsKept - 2})`;
      await service.world.database.sql`update exports set state = 'ready' where gateway_id = ${shop.id}`;
      expect((await send({ from: shop, body: { kind: 'payments' } })).error.code).toBe('conflict');
    });

    it('refuses another one while those that are kept fill what a gateway may have of the disk, and counts no file that failed', async () => {
      const { sql } = service.world.database;
      const shop = await anotherShop();
      await sql`
        insert into exports (id, gateway_id, kind, format, columns, filter, until, state, byte_count)
        select gen_random_uuid(), ${shop.id}, 'ledger', 'csv', '{at}', '{}', now(), 'ready', ${POLICY.exportBytes} from generate_series(1, ${POLICY.exportsKeptBytes / POLICY.exportBytes})`;
      const { error } = await send({ from: shop, body: { kind: 'payments' } });
      expect([error.code, error.message]).toEqual(['conflict', expect.stringContaining('2048 MiB')]);
      await sql`update exports set state = 'failed', problem = 'too_large', ended_at = now() where id = (select id from exports where gateway_id = ${shop.id} limit 1)`;
      expect((await send({ from: shop, body: { kind: 'payments' } })).status).toBe(202);
    });
  },
  422: ({ send }) => {
    it('names what it cannot read', async () => {
      const wrong: [Record<string, unknown>, string][] = [
        [{ kind: 'secrets' }, 'kind'],
        [{ kind: 'ledger', format: 'xlsx' }, 'format'],
        [{ kind: 'ledger', columns: [] }, 'columns'],
        [{ kind: 'ledger', columns: ['at', 'secret_hash'] }, 'columns.1'],
        [{ kind: 'ledger', columns: ['at', 'at'] }, 'columns.1'],
        [{ kind: 'ledger', filter: { status: 'SUCCESS' } }, 'filter.status'],
        [{ kind: 'payments', filter: { status: "'; drop table exports" } }, 'filter.status'],
        [{ kind: 'payments', filter: { constructor: 'x' } }, 'filter.constructor'],
        [{ kind: 'payments', from: 'yesterday' }, 'from'],
        [{ kind: 'payments', from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'to'],
      ];
      for (const [body, field] of wrong) {
        const { status, error } = await send({ body });
        expect([status, error.message.includes(field)], `${JSON.stringify(body)} ${error.message}`).toEqual([422, true]);
      }
    });
  },
});

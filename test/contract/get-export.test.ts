import { expect, it } from 'vitest';
import { makeNextPart } from '#api/exports/make-exports.ts';
import { POLICY } from '#shared/core/policy.ts';
import { describeOperation } from './describe-operation.ts';

describeOperation('getExport', {
  200: ({ service, send, example }) => {
    it('tells how far it is', async () => {
      const { params = {} } = await example();
      expect((await send({ params })).data).toMatchObject({ exportId: params.exportId, state: 'making', rows: 0, bytes: 0, endedAt: null });
      while (await makeNextPart(service.worker));
      expect((await send({ params })).data).toMatchObject({ state: 'ready', problem: null, endedAt: expect.any(String) });
    });

    it('is not given up while the database cannot keep its parts, however often it is tried', async () => {
      const { sql } = service.world.database;
      const { params = {} } = await example();
      await sql.unsafe(`
        create function no_room() returns trigger language plpgsql as $$ begin raise exception 'no space left' using errcode = '53100'; end $$;
        create trigger no_room before insert on export_parts for each row execute function no_room()`);
      for (let times = 0; times < 2 * POLICY.exportFailures; times++) await makeNextPart(service.worker).catch(() => undefined);
      await sql.unsafe('drop function no_room cascade');
      expect((await send({ params })).data).toMatchObject({ state: 'making', problem: null });
      while (await makeNextPart(service.worker));
      expect((await send({ params })).data).toMatchObject({ state: 'ready', problem: null });
    });
  },
  404: ({ send, example, anotherShop }) => {
    it('does not know another gateway’s', async () => {
      const [{ params = {} }, other] = [await example(), await anotherShop()];
      expect((await send({ params, from: other })).text).toBe((await send({ from: other })).text);
    });
  },
});

import { expect, it } from 'vitest';
import { makeNextPart } from '#api/exports/make-exports.ts';
import { describeOperation } from './describe-operation.ts';

describeOperation('getExport', {
  200: ({ service, send, example }) => {
    it('tells how far it is', async () => {
      const { params = {} } = await example();
      expect((await send({ params })).data).toMatchObject({ exportId: params.exportId, state: 'making', rows: 0, bytes: 0, endedAt: null });
      while (await makeNextPart(service.worker));
      expect((await send({ params })).data).toMatchObject({ state: 'ready', problem: null, endedAt: expect.any(String) });
    });
  },
  404: ({ send, example, anotherShop }) => {
    it('does not know another gateway’s', async () => {
      const [{ params = {} }, other] = [await example(), await anotherShop()];
      expect((await send({ params, from: other })).text).toBe((await send({ from: other })).text);
    });
  },
});

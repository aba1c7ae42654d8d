import fc from 'fast-check';
import { generateSync, type JsonSchema } from 'json-schema-faker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODIES, CATALOGUE, type Entry, pathOf } from './catalogue.ts';
import { bodySchemas, hostileRequest, mutate, RUNS } from './hostile.ts';
import { type Answer, aService, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
let ids: string[];
let schemas: Map<string, JsonSchema>;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
  await shop.fund('USDT', '1000.5');
  const { paymentUid } = await shop.payment();
  const { data } = await shop.signed('POST', '/merchant/settlements', {
    body: { assetId: service.world.assets.USDT?.id, amount: '5', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  });
  ids = [paymentUid, String(data.id), '00000000-0000-4000-8000-000000000000', 'x', '%F0%9F%9C%81', '0', encodeURIComponent('{"$ne":null}')];
  schemas = await bodySchemas('api/contract/openapi.yaml');
});
afterAll(() => service.stop());

describe('whatever is sent', () => {
  it.each(CATALOGUE.map((entry) => [entry.id, entry] as const))(
    '%s answers as the contract says, and names the field',
    async (_id, entry) => {
      await fc.assert(
        fc.asyncProperty(hostileRequest, async ({ seed, mutations, id, query, key }) => {
          const body = entry.takesBody
            ? mutations.reduce<unknown>(mutate, seed % 3 === 0 ? generateSync(schemas.get(entry.id) ?? {}, { seed }) : accepted(entry))
            : undefined;
          const path = `${pathOf(entry, ids[id % ids.length])}${query.length === 0 ? '' : `?${new URLSearchParams(query)}`}`;
          const { status, error, text } = await send(entry, path, body, key);
          if (status !== 501) expect(status, text).toBeLessThan(500);
          if (error?.code === 'validation_error') expect(error.message).toMatch(/^.{1,260}: \S/s);
        }),
        { numRuns: RUNS },
      );
    },
    120_000 + RUNS * 100,
  );
});

function send(entry: Entry, path: string, body: unknown, key: string | null): Promise<Answer> {
  const ask = body === undefined ? {} : { raw: JSON.stringify(body) ?? 'null' };
  if (entry.scheme === 'signedRequest') return shop.signed(entry.method, path, { ...ask, ...(key === null ? {} : { idempotencyKey: key }) });
  return shop.call(entry.method, path, { ...ask, headers: key === null || key === '' ? {} : { 'idempotency-key': key } });
}

/** A body the operation accepts, to be broken in one or two places only. */
function accepted(entry: Entry): unknown {
  const { assetId, ...body } = BODIES[entry.id] ?? {};
  return assetId === undefined ? body : { ...body, assetId: service.world.assets.USDT?.id };
}

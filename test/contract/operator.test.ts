import fc from 'fast-check';
import { generateSync } from 'json-schema-faker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { type Entry, OPERATOR_CATALOGUE, pathOf } from './catalogue.ts';
import { bodySchemas, hostileRequest, mutate, RUNS, type Schema } from './hostile.ts';
import type { Answer, Ask } from './client.ts';
import { aService, type Service } from './service.ts';

let service: Service;
let ids: string[];
let schemas: Map<string, Schema>;
beforeAll(async () => {
  service = await aService();
  const shop = await service.aShop();
  await shop.fund('USDT', '10.5');
  const { paymentUid } = await shop.payment();
  ids = [shop.id, paymentUid, 'ethereum', 'USDT', 'webhook', '00000000-0000-4000-8000-000000000000', 'x', '%F0%9F%9C%81', '%00'];
  schemas = await bodySchemas('api/contract/operator.yaml');
});
afterAll(() => service.stop());

const TOKEN = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const ask = (entry: Entry, one: Ask = {}, path = pathOf(entry)): Promise<Answer> =>
  service.ask(entry.method, `/operator/v1${path}`, { ...one, headers: { ...TOKEN, ...one.headers } });
const each = (entries: readonly Entry[]): [string, Entry][] => entries.map((entry) => [entry.id, entry]);

describe('every operator operation', () => {
  it.each(each(OPERATOR_CATALOGUE))(
    '%s answers whatever is sent as the contract says',
    async (_id, entry) => {
      await fc.assert(
        fc.asyncProperty(hostileRequest, async ({ seed, mutations, id, query }) => {
          const body = entry.takesBody
            ? {
                raw:
                  JSON.stringify(mutations.reduce<unknown>((value, one) => mutate(value, one), generateSync(schemas.get(entry.id) ?? {}, { seed }))) ?? 'null',
              }
            : {};
          const { status, error, text } = await ask(
            entry,
            body,
            `${pathOf(entry, ids[id % ids.length])}${query.length === 0 ? '' : `?${new URLSearchParams(query)}`}`,
          );
          if (status !== 501) expect(status, text).toBeLessThan(500);
          if (error?.code === 'validation_error') expect(error.message).toMatch(/^.{1,260}: \S/s);
        }),
        { numRuns: RUNS },
      );
    },
    120_000 + RUNS * 100,
  );
});

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merchantOperations } from '#api/operations/merchant-operations.ts';
import { FULL } from '#test/harness/counts.ts';
import { CATALOGUE } from './catalogue.ts';
import { openSession } from './fuzz-session.ts';
import { type Step, session } from './fuzz-steps.ts';
import { bodySchemas, type Schema } from './hostile.ts';
import { aService, type Listening, listen, type Service } from './service.ts';

/** Requests in all, and in a session: a session has two gateways of its own. */
const REQUESTS = FULL ? 20_000 : 1_000;
const PER_SESSION = 100;
/** `<seed>` or `<seed>:<path>` as a failure prints it; without it `npm test` repeats itself and `npm run test:long` explores. */
const REPLAY = /^(-?\d+)(?::([\d:]+))?$/.exec(process.env.SLUICE_FUZZ ?? '');
const SEED = REPLAY === null ? (FULL ? Date.now() % 2 ** 31 : 20_261_121) : Number(REPLAY[1]);

let service: Service;
let schemas: Map<string, Schema>;
beforeAll(async () => {
  service = await aService();
  schemas = await bodySchemas('api/contract/openapi.yaml');
});
afterAll(async () => {
  // Whatever is unpaid ends before the books are audited.
  await service.wait(86_400);
  await service.stop();
});

interface Tally {
  requests: number;
  operations: Set<string>;
  statuses: Map<number, number>;
}

/** Runs sessions until one fails, and says how to run that one again. */
async function explore(through: Listening['ask'], requests: number): Promise<Tally> {
  const tally: Tally = { requests: 0, operations: new Set(), statuses: new Map() };
  const property = fc.asyncProperty(session(PER_SESSION), async (steps: Step[]) => {
    const { run, statuses } = await openSession(service, through, schemas);
    for (const step of steps) {
      await run(step);
      if (step.kind === 'ask') tally.operations.add(step.operation);
    }
    for (const [status, times] of statuses) tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + times);
    tally.requests += steps.filter((step) => step.kind === 'ask').length;
  });
  const path = REPLAY?.[2];
  const result = await fc.check(property, {
    seed: SEED,
    numRuns: path === undefined ? Math.ceil(requests / (PER_SESSION * 0.9)) : 1,
    endOnFailure: true,
    ...(path === undefined ? {} : { path }),
  });
  if (result.failed)
    throw new Error(
      `${(result.errorInstance as Error | null)?.message}\n\nAgain: SLUICE_FUZZ=${result.seed}:${result.counterexamplePath} npx vitest run test/contract/fuzz.test.ts`,
      { cause: result.errorInstance },
    );
  return tally;
}

describe('whatever two gateways send, in whatever order', () => {
  it(
    `is answered as the contract says, is never our fault, and shows neither the other's (${REQUESTS} requests)`,
    async () => {
      const { requests, operations: seen, statuses } = await explore(service.ask, REQUESTS);
      if (REPLAY !== null) return;
      expect(requests).toBeGreaterThanOrEqual(REQUESTS);
      expect([...seen].sort()).toEqual(CATALOGUE.map((entry) => entry.id).sort());
      for (const status of [200, 201, 400, 401, 404, 405, 409, 413, 415, 422]) expect([status, statuses.get(status) ?? 0]).not.toEqual([status, 0]);
    },
    60_000 + REQUESTS * 100,
  );
});

describe('what would be noticed', () => {
  const broken = async (over: Partial<typeof merchantOperations>): Promise<unknown> => {
    const faulty = await listen(service.deps, { ...merchantOperations, ...over });
    try {
      return await explore(faulty.ask, 300).then(
        () => undefined,
        (error: unknown) => error,
      );
    } finally {
      await faulty.close();
    }
  };

  it('a list that forgets whose it is', async () => {
    const { sql } = service.world.database;
    const error = await broken({
      async listSettlements(deps, call) {
        const reply = await merchantOperations.listSettlements(deps, call);
        const [stranger] = await sql<{ id: string }[]>`select id from settlements where gateway_id <> ${call.gateway?.id ?? ''} limit 1`;
        const items = (reply.data as { items: Record<string, unknown>[] }).items.map((item, at) => (at === 0 ? { ...item, id: stranger?.id } : item));
        return { ...reply, data: { ...reply.data, items } };
      },
    });
    expect(String(error)).toContain('belongs to another gateway');
  });

  it('a crash, and a field too many', async () => {
    const crash = await broken({
      listBalances: async () => {
        throw new Error('oops');
      },
    });
    expect(String(crash)).toContain('our fault');
    const more = await broken({ listBalances: async () => ({ status: 200, data: { items: [], more: 1 } }) });
    expect(String(more)).toMatch(/listBalances|balances/);
    expect(String(more)).toMatch(/SLUICE_FUZZ=/);
  });
});

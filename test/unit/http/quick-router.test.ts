import { OpenAPIBackend, type Request } from 'openapi-backend';
import { describe, expect, it } from 'vitest';
import { readCheckoutContract, readContract } from '#api/http/read-contract.ts';
import { quicken } from '#api/http/quick-router.ts';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const PATHS = [
  ...[
    '/payments',
    '/payments/',
    `/payments/${ID}`,
    `/payments/${ID}/verify`,
    `/payments/${ID}/`,
    '/payments/preview',
    '/payments/open-amount',
    '/payments//verify',
  ],
  ...['/payments/%20a%2Fb/verify', `/public/payments/${ID}/offers/${ID}/select`, '/assets', '/merchant/settlements/balances', `/merchant/settlements/${ID}`],
  ...['', '/', '/nothing', '/payments/a/b/c/d', '/paymentsX', '/merchant/settlements/balances/approve'],
];

/** Every contract that is served, and where its paths begin. */
const CONTRACTS = [
  { name: 'openapi', definition: readContract('api/contract/openapi.yaml'), root: '/api/v1' },
  { name: 'operator', definition: readContract('api/contract/operator.yaml'), root: '/operator/v1' },
  { name: 'checkout', definition: readCheckoutContract('api/contract'), root: '' },
];

async function aRouter({ definition, root }: (typeof CONTRACTS)[number]): Promise<OpenAPIBackend['router']> {
  const backend = new OpenAPIBackend({ definition: structuredClone(definition), apiRoot: root, quick: true });
  await backend.init();
  return backend.router;
}

/** Every path of a contract with something in its braces, and what is none. */
function pathsOf(router: OpenAPIBackend['router'], root: string): string[] {
  const own = router.getOperations().map(({ path }) => (path as string).replaceAll(/\{[^}]+\}/g, ID));
  return [...new Set([...own, ...own.map((path) => `${path}/`), ...PATHS])].map((path) => `${root}${path}`);
}

function outcome(work: () => unknown): unknown {
  try {
    return work() ?? null;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the quick router', () => {
  it.each(CONTRACTS)("finds in the contract $name what openapi-backend's own finds, on every path and method", async (contract) => {
    const [plain, quick] = [await aRouter(contract), await aRouter(contract)];
    quicken(quick);
    for (const path of [...pathsOf(plain, contract.root), '/api/v1', '/api/v2/payments', '/', ''])
      for (const method of ['GET', 'POST', 'post', 'DELETE', 'PUT']) {
        const request: Request = { method, path, headers: {}, query: {} };
        const of = (router: typeof plain): unknown => [
          outcome(() => router.matchOperation(request)?.operationId),
          outcome(() => router.matchOperation(request, true).operationId),
        ];
        expect({ method, path, found: of(quick) }).toEqual({ method, path, found: of(plain) });
      }
  });

  it.each(CONTRACTS)(
    "reads out of a request to the contract $name what openapi-backend's own reads, with and without a query, cookies and a body",
    async (contract) => {
      const [plain, quick] = [await aRouter(contract), await aRouter(contract)];
      quicken(quick);
      const parts = [
        {},
        { query: { status: 'PAID', limit: '5' } },
        { headers: { cookie: 'a=b', accept: '*/*' } },
        { body: { amount: '1' } },
        { body: '{"a":1}' },
      ];
      for (const path of pathsOf(plain, contract.root))
        for (const part of parts) {
          const request: Request = { method: 'POST', path, headers: { 'x-api-key': 'k' }, query: {}, ...part };
          const read = (router: typeof plain): unknown => [
            router.parseRequest({ ...request }),
            router.parseRequest({ ...request }, router.matchOperation(request)),
          ];
          expect({ path, part, read: read(quick) }).toEqual({ path, part, read: read(plain) });
        }
    },
  );
});

import fc from 'fast-check';
import type { JsonSchema } from 'json-schema-faker';
import { OpenAPIBackend } from 'openapi-backend';
import { readContract } from '#api/http/app.ts';
import { times } from '#test/harness/counts.ts';

/** How many hostile requests each operation gets. */
export const RUNS = times(800);

interface Mutation {
  place: number;
  how: string;
  key: string;
  value: unknown;
}

/** What attackers, bugs and other languages send. */
const HOSTILE: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  1e21,
  1e300,
  -1e300,
  Number.MAX_SAFE_INTEGER + 2,
  '',
  ' ',
  '0',
  '-0',
  '1',
  '01',
  '1.',
  '.1',
  '1e5',
  '0x10',
  'NaN',
  'Infinity',
  '١٢',
  '9'.repeat(38),
  '9'.repeat(39),
  `0.${'0'.repeat(17)}1`,
  '9'.repeat(10_000),
  'null',
  'undefined',
  '\u0000',
  '\ud800',
  '\u202e',
  'é'.repeat(3_000),
  "'; drop table payments; --",
  '{{7*7}}',
  '../../etc/passwd',
  'javascript:alert(1)',
  'http://',
  'http://[::1',
  'https://user:pass@host:99999/',
  'HTTP://EXAMPLE.COM',
  '//example.com',
  '00000000-0000-4000-8000-000000000000',
  'urn:uuid:00000000-0000-4000-8000-000000000000',
  [],
  [[]],
  [null],
  {},
  { a: { b: { c: {} } } },
  { length: 1 },
  { toString: 1 },
  { prototype: 1 },
  Array.from({ length: 200 }, () => ({})),
];

const hostile = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 40 }), fc.double(), fc.jsonValue({ maxDepth: 3 }));
/** Where a body is broken: the n-th place of all there are, by replacing, removing or adding. */
const mutation = fc.record({
  place: fc.nat(50),
  how: fc.constantFrom('replace', 'replace', 'remove', 'add'),
  key: fc.string({ maxLength: 12 }),
  value: hostile,
});
/** One hostile request: a broken body, an id, a query and an Idempotency-Key. */
export const hostileRequest = fc.record({
  seed: fc.nat(1_000_000),
  mutations: fc.array(mutation, { maxLength: 3 }),
  id: fc.nat(20),
  query: fc.array(
    fc.tuple(
      fc.constantFrom('status', 'limit', 'page', 'after', 'statusOnly', 'x', '__proto__', 'status[]'),
      fc.oneof(fc.constantFrom('', '0', '1', '20', '-1', '1e9', 'true', 'SETTLED', 'SUCCESS', 'null', '%', '\0'), fc.string({ maxLength: 20 })),
    ),
    { maxLength: 3 },
  ),
  key: fc.oneof(
    fc.constant(null),
    fc.string({ maxLength: 10 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
  ),
});

/** Breaks one place of a JSON value, in a copy. */
export function mutate(value: unknown, { place, how, key, value: other }: Mutation): unknown {
  const copy = structuredClone(value);
  const places: { holder: Record<string, unknown>; key: string }[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const name of Object.keys(node)) {
      places.push({ holder: node as Record<string, unknown>, key: name });
      walk((node as Record<string, unknown>)[name]);
    }
  };
  walk(copy);
  const chosen = places[place % Math.max(places.length, 1)];
  if (chosen === undefined) return other;
  if (how === 'remove') delete chosen.holder[chosen.key];
  else chosen.holder[how === 'add' ? key : chosen.key] = other;
  return copy;
}

/** The body schema of every operation that takes one, without references and without the field that nothing may match. */
export async function bodySchemas(file: string): Promise<Map<string, JsonSchema>> {
  const backend = new OpenAPIBackend({ definition: readContract(file), quick: true, strict: true });
  await backend.init();
  const found = new Map<string, JsonSchema>();
  for (const operation of backend.getOperations()) {
    const content = (operation.requestBody as { content?: Record<string, { schema?: JsonSchema }> } | undefined)?.content;
    const schema = structuredClone(content?.['application/json']?.schema ?? {}) as { properties?: Record<string, JsonSchema> };
    delete schema.properties?.isQuarantined;
    found.set(operation.operationId ?? '', schema as JsonSchema);
  }
  return found;
}

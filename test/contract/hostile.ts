import fc from 'fast-check';
import type { JsonSchema } from 'json-schema-faker';
import { OpenAPIBackend } from 'openapi-backend';
import { readContract } from '#api/http/read-contract.ts';
import { times } from '#test/harness/counts.ts';

/** How many hostile requests each operator operation gets. */
export const RUNS = times(200);

/** A JSON Schema without references. */
export type Schema = Exclude<JsonSchema, boolean>;

/** How one place of a JSON value is broken. */
export interface Mutation {
  place: number;
  how: 'replace' | 'remove' | 'add' | 'edge';
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
  Number.MIN_VALUE,
  2 ** 31,
  2 ** 53,
  '99999999999999999999999999999999999999.999999999999999999',
  '\ufeff',
  'a\r\nX-Injected: 1',
  '\u{1f4a9}'.repeat(600),
  'https://example.com/\u0000',
  Array.from({ length: 200 }, () => ({})),
];

/** Any JSON value, hostile ones first. */
export const hostile = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 40 }), fc.double(), fc.jsonValue({ maxDepth: 3 }));
/** Where a body is broken: the n-th place of all there are, by replacing, removing, adding, or by a value at the edge of its schema. */
export const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(50),
  how: fc.constantFrom('replace', 'remove', 'add', 'edge', 'edge'),
  key: fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('callbackUrl', 'isQuarantined', '__proto__', 'constructor', 'toString', 'id', 'gatewayId')),
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

/** Breaks one place of a JSON value, in a copy; `edge` picks from `edges`, the values at the edge of what the schema allows. */
export function mutate(value: unknown, { place, how, key, value: other }: Mutation, edges: readonly Edge[] = []): unknown {
  const copy = structuredClone(value);
  const edge = edges[place % Math.max(edges.length, 1)];
  if (how === 'edge' && edge !== undefined && typeof copy === 'object' && copy !== null && !Array.isArray(copy)) {
    (copy as Record<string, unknown>)[edge.field] = edge.value;
    return copy;
  }
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
  else if (how === 'add') Object.defineProperty(chosen.holder, key, { value: other, enumerable: true, configurable: true, writable: true });
  else chosen.holder[chosen.key] = other;
  return copy;
}

/** A top-level field of a body and a value at the edge of what its schema allows, on either side. */
export interface Edge {
  field: string;
  value: unknown;
}

/** Every edge of a body schema: lengths, bounds and counts hit and missed by one, enums in another case, formats almost right. */
export function edgesOf(schema: Schema): Edge[] {
  const fields = [schema, ...((schema.allOf ?? []) as Schema[])].flatMap((one) => Object.entries((one.properties ?? {}) as Record<string, Schema>));
  return fields.flatMap(([field, one]) => edgeValues(one).map((value) => ({ field, value })));
}

function edgeValues({ minLength, maxLength, minimum, maximum, minItems, maxItems, enum: allowed, format, pattern, type, items }: Schema): unknown[] {
  const around = (bound: number | undefined): number[] => (bound === undefined ? [] : [bound - 1, bound, bound + 1].filter((size) => size >= 0));
  const digits = pattern?.includes('[1-9]') === true;
  return [
    ...[...around(minLength), ...around(maxLength)].map((size) => (digits ? '9' : 'a').repeat(size)),
    ...(minimum === undefined ? [] : [minimum - 1, minimum, minimum + 0.5]),
    ...(maximum === undefined ? [] : [maximum, maximum + 1]),
    ...[...around(minItems), ...around(maxItems)].map((size) =>
      Array.from({ length: size }, () => ((items as Schema | undefined)?.type === 'object' ? {} : 'a')),
    ),
    ...(allowed ?? []).flatMap((one) => (typeof one === 'string' ? [one, one.toLowerCase(), ` ${one}`, [one]] : [one])),
    ...(format === 'uuid' ? [randomUuid, randomUuid.toUpperCase(), `{${randomUuid}}`, randomUuid.replaceAll('-', '')] : []),
    ...(format === 'uri'
      ? ['http://a', `https://a/${'b'.repeat(2_038)}`, `https://a/${'b'.repeat(2_039)}`, 'https://a b', 'ftp://a', 'https://ü.example/ü']
      : []),
    ...(digits ? ['0', '0.0', '0.000000000000000001', '1.0000000000000000000', '-0', '-1', '1e1', '1,5', '٣', `${'9'.repeat(38)}.${'9'.repeat(18)}`] : []),
    ...(type === 'boolean' ? [true, false, 'true', 0] : []),
    ...(type === 'integer' ? [0, -1, 1.5, '1', 2 ** 31, 2 ** 53, 1e300] : []),
    ...(Array.isArray(type) ? [null] : []),
  ];
}

const randomUuid = '3f2b8c1e-9a4d-4e6f-8b7a-1c2d3e4f5a6b';

/** The body schema of every operation that takes one, without references and without the field that nothing may match. */
export async function bodySchemas(file: string): Promise<Map<string, Schema>> {
  const backend = new OpenAPIBackend({ definition: readContract(file), quick: true, strict: true });
  await backend.init();
  const found = new Map<string, Schema>();
  for (const operation of backend.getOperations()) {
    const content = (operation.requestBody as { content?: Record<string, { schema?: JsonSchema }> } | undefined)?.content;
    const schema = structuredClone(content?.['application/json']?.schema ?? {}) as Schema & { properties?: Record<string, JsonSchema> };
    delete schema.properties?.isQuarantined;
    found.set(operation.operationId ?? '', schema);
  }
  return found;
}

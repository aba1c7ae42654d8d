import { readFileSync } from 'node:fs';
import { OpenAPIBackend } from 'openapi-backend';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readContract } from '#api/http/read-contract.ts';
import { GENERATED, generateTypes } from '#ops/generate-types.ts';
import { ERRORS } from '#shared/core/errors.ts';
import { CATALOGUE } from './catalogue.ts';

interface Node {
  [key: string]: unknown;
}
const contract = parse(readFileSync('api/contract/openapi.yaml', 'utf8')) as Node & {
  components: { schemas: { ErrorCode: { enum: string[] } }; responses: Record<string, Node> };
  paths: Record<string, Record<string, { responses: Record<string, Node> }>>;
};

/** Every `error.code` a response of the file may carry, with the status it is listed under. */
function codesIn(): { status: string; code: string }[] {
  return Object.values(contract.paths).flatMap((item) =>
    Object.values(item).flatMap((operation) =>
      Object.entries(operation.responses ?? {}).flatMap(([status, response]) => {
        const resolved = typeof response.$ref === 'string' ? contract.components.responses[response.$ref.split('/').at(-1) ?? ''] : response;
        const schema = (
          resolved as {
            content?: { 'application/json'?: { schema?: { properties?: { error?: { properties: { code: { const?: string; enum?: string[] } } } } } } };
          }
        ).content?.['application/json']?.schema;
        const code = schema?.properties?.error?.properties.code;
        return [code?.const ?? [], code?.enum ?? []].flat().map((one) => ({ status, code: one }));
      }),
    ),
  );
}

/** Every response of the file with all references resolved, by operation and status. */
async function responses(): Promise<[string, { headers?: Node; content?: Record<string, { schema: Node }> }][]> {
  const backend = new OpenAPIBackend({ definition: readContract('api/contract/openapi.yaml'), quick: true, strict: true });
  await backend.init();
  return backend
    .getOperations()
    .flatMap((operation) =>
      Object.entries(operation.responses ?? {}).map(([status, response]) => [`${operation.operationId} ${status}`, response as { headers?: Node }] as const),
    )
    .filter(([at]) => at !== 'openPaymentSocket 101')
    .map(([at, response]) => [at, response]);
}

/** Where a schema lets an object carry fields that it does not describe. */
function openObjects(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((one, index) => openObjects(one, `${at}[${index}]`));
  const { allOf, ...node } = schema as Node & { allOf?: Node[] };
  // Of several schemas that all must match, one that is closed closes them all.
  const together = allOf?.some((one) => one.additionalProperties === false) ? [] : openObjects(allOf ?? [], at);
  const own = node.properties !== undefined && node.additionalProperties === undefined ? [at] : [];
  return [...own, ...together, ...Object.entries(node).flatMap(([key, value]) => openObjects(value, `${at}.${key}`))];
}

describe('the contract file', () => {
  it('describes every response to the last field and header', async () => {
    const all = await responses();
    expect(all.length).toBeGreaterThan(200);
    for (const [at, { headers, content }] of all) {
      const file = /^getExportFile (200|206|304|416)$/.test(at);
      if (file) expect(content?.['application/json']).toBeUndefined();
      else expect([at, Object.keys(content ?? {})]).toEqual([at, ['application/json']]);
      expect([at, ...Object.keys(headers ?? {})]).toEqual(expect.arrayContaining([at, 'X-Request-Id', 'X-Contract-Revision']));
      if (!file) expect(openObjects(content?.['application/json']?.schema, at)).toEqual([]);
    }
  });

  it.each(GENERATED)('$types is what $contract generates (npm run generate)', async ({ contract: file, types }) => {
    expect(readFileSync(types, 'utf8')).toBe(await generateTypes(file));
  });

  it('lists every error code of the merchant API, each under its own HTTP status', () => {
    const listed = codesIn();
    for (const { status, code } of listed) expect([code, ERRORS[code as keyof typeof ERRORS]?.status]).toEqual([code, Number(status)]);
    const merchant = Object.keys(ERRORS)
      .filter((code) => code !== 'operator_token_invalid' && code !== 'not_implemented')
      .sort();
    expect([...contract.components.schemas.ErrorCode.enum].sort()).toEqual(merchant);
    expect([...new Set([...listed.map((one) => one.code), 'method_not_allowed'])].sort()).toEqual(merchant);
  });

  it('is the revision that every response names', () => expect((contract.info as { version: string }).version).toBe('2.2.0'));

  it('names the permission of every operation with a key', () => {
    for (const entry of CATALOGUE) expect([entry.id, entry.permission === null]).toEqual([entry.id, entry.scheme === null]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { GENERATED, generateTypes } from '#ops/generate-types.ts';
import { ERRORS } from '#shared/core/errors.ts';
import { CATALOGUE, commonStatuses, NOT_YET } from './catalogue.ts';

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

describe('the contract file', () => {
  it.each(GENERATED)('$types is what $contract generates (npm run generate)', async ({ contract: file, types }) => {
    expect(readFileSync(types, 'utf8')).toBe(await generateTypes(file));
  });

  it('lists every error code of the merchant API, each under its own HTTP status', () => {
    const listed = codesIn();
    for (const { status, code } of listed) expect([code, ERRORS[code as keyof typeof ERRORS]?.status]).toEqual([code, Number(status)]);
    const merchant = Object.keys(ERRORS)
      .filter((code) => code !== 'operator_token_invalid')
      .sort();
    expect([...contract.components.schemas.ErrorCode.enum].sort()).toEqual(merchant);
    expect([...new Set([...listed.map((one) => one.code), 'method_not_allowed'])].sort()).toEqual(merchant);
  });

  it('is the revision that every response names', () => expect((contract.info as { version: string }).version).toBe('2.2.0'));

  it('names the permission of every operation with a key', () => {
    for (const entry of CATALOGUE) expect([entry.id, entry.permission === null]).toEqual([entry.id, entry.scheme === null]);
  });
});

/** Listed, and left to a later release: rate limits, and cashouts that park. */
const LATER: Record<string, string[]> = { '*': ['429'], createSettlement: ['202'] };

describe('the tests', () => {
  it.each(CATALOGUE.filter((entry) => !NOT_YET.includes(entry.id)).map((entry) => [entry.id, entry] as const))(
    'have a case for every status the contract lists for %s',
    (id, entry) => {
      const file = `test/contract/${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`;
      expect(existsSync(file), file).toBe(true);
      const own = [...readFileSync(file, 'utf8').matchAll(/^describe\('(\d{3})'/gm)].map((match) => match[1] as string);
      const proven = new Set([...own, ...commonStatuses(entry), ...(LATER['*'] ?? []), ...(LATER[id] ?? [])]);
      expect(entry.statuses.filter((status) => !proven.has(status))).toEqual([]);
    },
  );
});

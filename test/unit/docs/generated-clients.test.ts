import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

type Schema = { $ref?: string; allOf?: Schema[]; properties?: Record<string, Schema & { const?: unknown; enum?: unknown[] }> };

const contract = parse(readFileSync('api/contract/openapi.yaml', 'utf8')) as { components: { schemas: Record<string, Schema> } };

/** Every `allOf` of the contract, with what its members refer to, and where it stands. */
function* joined(value: unknown, at: string): Generator<{ at: string; members: Schema[] }> {
  if (typeof value !== 'object' || value === null) return;
  const { allOf } = value as Schema;
  if (Array.isArray(allOf)) yield { at, members: allOf.map((member) => (member.$ref === undefined ? member : resolved(member.$ref))) };
  for (const [name, inner] of Object.entries(value)) yield* joined(inner, `${at}/${name}`);
}

function resolved(reference: string): Schema {
  return contract.components.schemas[reference.split('/').at(-1) as string] ?? {};
}

it('no answer narrows a list of words by const: openapi-python-client leaves such an answer out', () => {
  const all = [...joined(contract, '')];
  expect(all.length).toBeGreaterThan(1);
  const narrowed = all.flatMap(({ at, members }) => {
    const listed = new Set(members.flatMap(({ properties = {} }) => Object.keys(properties).filter((name) => properties[name]?.enum !== undefined)));
    return members.flatMap(({ properties = {} }) =>
      Object.keys(properties).flatMap((name) => (listed.has(name) && properties[name]?.const !== undefined ? [`${at}: ${name}`] : [])),
    );
  });
  expect(narrowed).toEqual([]);
});

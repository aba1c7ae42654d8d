import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONTRACT_REVISION } from '#api/http/envelope.ts';
import { ERRORS } from '#shared/core/errors.ts';
import { textOf } from '#test/fixtures/repository.ts';

// What ops/design says in words is what api/contract says in shapes.

const CONTRACT = textOf('ops/design/contract.md');
const OPENAPI = textOf('api/contract/openapi.yaml');
const NAMES = namesOf(parse(OPENAPI));

it('contract.md names fields, parameters and values that the contract file has', () => {
  const resources = CONTRACT.slice(CONTRACT.indexOf('## 2 '), CONTRACT.indexOf('## 5 '));
  const told = [...resources.matchAll(/`([a-z][a-zA-Z]+|[A-Z][A-Z_0-9]{2,})`/g)].map(([, name = '']) => name);
  expect(told.length).toBeGreaterThan(200);
  expect([...new Set(told)].filter((name) => !NAMES.has(name) && !(name in ERRORS))).toEqual([]);
});

it('contract.md and decisions.md name every error code there is, with the status it is served with', () => {
  const codes = [...CONTRACT.matchAll(/^\| (\d{3}) \| `([a-z_]+)` \|/gm)].map(([, status, code = '']) => [code, Number(status)] as const);
  for (const [code, status] of codes) expect([code, ERRORS[code as keyof typeof ERRORS]?.status]).toEqual([code, status]);
  const decisions = textOf('ops/design/decisions.md');
  expect(Object.keys(ERRORS).filter((code) => !CONTRACT.includes(`\`${code}\``) && !decisions.includes(`\`${code}\``))).toEqual([]);
});

it('both end at the revision that is served', () => {
  expect(/^\| (\d+\.\d+\.\d+) \|/m.exec(CONTRACT)?.[1]).toBe(CONTRACT_REVISION);
  expect(textOf('ops/design/decisions.md')).toContain(`X-Contract-Revision: ${CONTRACT_REVISION}`);
});

/** Every key and every word of a parsed YAML file. Pure. */
function namesOf(node: unknown): Set<string> {
  if (typeof node === 'string') return new Set([node]);
  if (Array.isArray(node)) return new Set(node.flatMap((one) => [...namesOf(one)]));
  if (typeof node !== 'object' || node === null) return new Set();
  return new Set(Object.entries(node).flatMap(([key, value]) => [key, ...namesOf(value)]));
}

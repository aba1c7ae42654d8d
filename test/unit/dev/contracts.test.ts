import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileContracts } from '#ops/dev/contracts/compile.ts';

it('the contracts of the local chains are what the compiler makes of tokens.sol', () => {
  expect(JSON.parse(readFileSync('ops/dev/contracts/tokens.json', 'utf8')), 'stale: npm run generate').toEqual(compileContracts());
});

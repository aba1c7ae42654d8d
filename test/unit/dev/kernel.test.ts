import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileKernel } from '#ops/dev/kernel/compile.ts';

it('the kernel that reads replies is, byte by byte, what the compiler makes of its sources', { timeout: 300_000 }, async () => {
  expect(JSON.parse(readFileSync('shared/chains/kernel/kernel.json', 'utf8')), 'stale: npm run generate').toEqual(await compileKernel());
});

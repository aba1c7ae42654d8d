import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileKernel, digestSources } from '#ops/dev/kernel/compile.ts';
import { FULL } from '#test/harness/counts.ts';

const compiled = JSON.parse(readFileSync('shared/chains/kernel/kernel.json', 'utf8')) as Awaited<ReturnType<typeof compileKernel>>;

it('the kernel that reads replies was compiled from its sources', () => {
  expect(compiled.sources, 'stale: npm run generate').toBe(digestSources());
});

it.runIf(FULL)('and is what the compiler makes of them', { timeout: 120_000 }, async () => {
  expect(compiled).toEqual(await compileKernel());
});

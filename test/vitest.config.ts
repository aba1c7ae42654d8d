import { defineConfig } from 'vitest/config';

const withServices = ['test/harness/global-setup.ts'];
const project = (name: string, options: { services: boolean; seconds: number }) => ({
  extends: true as const,
  test: {
    name,
    include: [name === 'architecture' ? 'test/architecture.test.ts' : `test/${name}/**/*.test.ts`],
    testTimeout: options.seconds * 1_000,
    hookTimeout: Math.max(options.seconds, 60) * 1_000,
    ...(options.services ? { globalSetup: withServices } : {}),
  },
});

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    pool: 'forks',
    // What a file imports stays for the next one of its worker: reading it anew for each file costs more than most files do. A
    // file must therefore put back what it changes outside of itself (environment, clock, HTTP).
    isolate: false,
    // Real servers and real processes: more workers than cores only make every wait longer.
    maxWorkers: 2,
    projects: [
      project('unit', { services: false, seconds: 30 }),
      project('architecture', { services: false, seconds: 120 }),
      project('chains', { services: true, seconds: 60 }),
      project('contract', { services: true, seconds: 60 }),
      project('integration', { services: true, seconds: 120 }),
      project('journeys', { services: true, seconds: 300 }),
    ],
  },
});

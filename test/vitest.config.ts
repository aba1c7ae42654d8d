import { configDefaults, defineConfig } from 'vitest/config';

const withServices = ['test/harness/global-setup.ts'];
const withBrowser = [...withServices, 'test/harness/browser-setup.ts'];
const withPrometheus = [...withServices, 'test/harness/prometheus-setup.ts'];

/**
 * What takes long: every crash point, fault row, simulation, race, hostage, theft and state of the page, and whole deployments that are
 * started, replaced and scaled. `npm test` leaves it to `npm run test:full`, which runs nothing else.
 */
const LONG = ['test/journeys/crash-*'];
/** `short` is `npm test`, `long` is `npm run test:full`; else every file may be asked for. */
const asked = process.env.SLUICE_TESTS;

const project = (name: string, options: { setup?: string[]; seconds: number }) => ({
  extends: true as const,
  test: {
    name,
    include:
      asked === 'long'
        ? LONG.filter((files) => files.startsWith(`test/${name}/`))
        : [name === 'architecture' ? 'test/architecture.test.ts' : `test/${name}/**/*.test.{ts,tsx}`],
    exclude: [...configDefaults.exclude, ...(asked === 'short' ? LONG : [])],
    testTimeout: options.seconds * 1_000,
    hookTimeout: Math.max(options.seconds, 60) * 1_000,
    ...(options.setup ? { globalSetup: options.setup } : {}),
  },
});

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  // The hosted page's components, as its own tsconfig has them.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    pool: 'forks',
    // What a file imports stays for the next one of its worker: reading it anew for each file costs more than most files do. A
    // file must therefore put back what it changes outside of itself (environment, clock, HTTP).
    isolate: false,
    // Files wait for blocks, leases and processes a third of their time: on two cores a third worker uses it, a fourth makes waits longer.
    maxWorkers: 3,
    // A condition that a starved machine meets late is met: the default of 1 s would fail tests by luck.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      project('unit', { seconds: 30 }),
      project('architecture', { seconds: 120 }),
      project('chains', { setup: withServices, seconds: 60 }),
      project('contract', { setup: withServices, seconds: 60 }),
      project('integration', { setup: withServices, seconds: 120 }),
      project('hostages', { setup: withServices, seconds: 300 }),
      project('playbook', { setup: withServices, seconds: 300 }),
      project('browser', { setup: withBrowser, seconds: 120 }),
      project('monitoring', { setup: withPrometheus, seconds: 180 }),
      project('journeys', { setup: withServices, seconds: 300 }),
    ],
  },
});

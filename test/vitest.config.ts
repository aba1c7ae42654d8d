import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './harness/longest-first.ts';

const withServices = ['test/harness/global-setup.ts'];
const withBrowser = [...withServices, 'test/harness/browser-setup.ts'];
const withPrometheus = [...withServices, 'test/harness/prometheus-setup.ts'];

/**
 * What `npm test` leaves to `npm run test:full`, which runs nothing else: every crash point, fault row, simulation, race, fuzz, hostage and
 * theft, every state of the page, every language and wallet, the console in a browser beyond its beginning, the documentation as it is drawn and its samples as they
 * run, lesser nodes and hostile replies, what is rare of cashouts, the treasury, what addresses hold, the command line, and deployments that are replaced and scaled.
 */
const FULL = [
  'test/browser/{console-languages,docs,dropped-socket,followed-pages,gateway-acts,gateway-pages,hosted-tron,injected-wallets}.test.ts',
  'test/browser/{interference,keyboard,looks,operator-acts,operator-pages,policies,program,provider,settings,states,time-and-redirect,weight}.test.ts',
  'test/chains/{conformance/*,evm-hardforks,evm-lesser-nodes,evm-lies,hostile-*,rpc-faults}.test.ts',
  'test/contract/{documentation,fuzz,get-export-file,merchant-client,receipt-mail}.test.ts',
  'test/hostages/*.test.ts',
  'test/integration/{any-folder,audit-marks,benches,catch-up-by-logs,database-roles,deliver-webhook-tarpits,faults,floods,harness}.test.ts',
  'test/integration/{explain,holdings,indexer,ingest-simulation,inquire,inquire-races,invoices,kept-readings,lease,machine-parts}.test.ts',
  'test/integration/{mempool,migrate,payout-parts,prices,recovery,redis-acl,resend-webhook,rescan,rpc-failover,second-opinion}.test.ts',
  'test/integration/{simulate,simulation,tracing-export,two-networks,unexplained-balances,watch-load}.test.ts',
  'test/integration/aml/resolving.test.ts',
  'test/integration/console/{attacks,policies}.test.ts',
  'test/integration/operator/{cli,clock,two-people,webhook-cli}.test.ts',
  'test/integration/settlements/{expiring,expiring-proofs,fees,held-outputs,held-pool,hostile-chain,intents,lesser-nodes,parking,pay-out,planned-sweeps}.test.ts',
  'test/integration/settlements/{races,replacing,replacing-guards,sweeping,unblocking,withdrawals,withheld-out}.test.ts',
  'test/integration/signer/{journal,journal-commands}.test.ts',
  'test/integration/treasury/*.test.ts',
  'test/journeys/{api-mode,cashout-by-hand,crash-*,failed-start,hostile-transfers,internal-transfers,kill-and-flush,no-secret-leaks}.test.ts',
  'test/journeys/{public-prices,reorganisations,roles,scale-out,select,shutdown,start,stop-mid-webhook,trigger,tron,two-people}.test.ts',
  'test/journeys/{unmined-bitcoin,upgrade}.test.ts',
  'test/monitoring/{live,rules}.test.ts',
  'test/playbook/*.test.ts',
  'test/unit/{chains/recover-key,chains/walk-fuzz,core/block-codec,dev/contracts,dev/kernel,docs/reference,docs/snippets}.test.ts',
  'test/unit/{jobs/report-on-scrape,machines/payout-attempts,platform/database-rights,platform/watchdog,signer/journal-file}.test.ts',
];
/** `short` is what `npm test` runs, `full` what `npm run test:full` does; without it every file may be named. */
const asked = process.env.SLUICE_TESTS;

/** `places` are folders of test/, or files: those of one project share their workers, and with them what is imported. */
const project = (name: string, places: readonly string[], options: { setup?: string[]; seconds: number }) => ({
  extends: true as const,
  test: {
    name,
    include: places.flatMap((place) => {
      if (asked === 'full') return FULL.filter((files) => files.startsWith(`test/${place}/`));
      return place.endsWith('.ts') ? `test/${place}` : `test/${place}/**/*.test.{ts,tsx}`;
    }),
    exclude: [...configDefaults.exclude, ...(asked === 'short' ? FULL : [])],
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
    setupFiles: ['test/harness/spoilt-replies.ts'],
    sequence: { sequencer: LongestFirst },
    // What a file imports stays for the next one of its worker: reading it anew for each file costs more than most files do. A
    // file must therefore put back what it changes outside of itself (environment, clock, HTTP).
    isolate: false,
    // Most of what a worker creates is soon forgotten: with room for it, the collector comes half as often.
    execArgv: ['--max-semi-space-size=64'],
    // Files wait for blocks, leases and processes a third of their time: on two cores a third worker uses it. Those of the full run wait
    // longer, so that a fourth has room.
    maxWorkers: asked === 'full' ? 4 : 3,
    // A condition that a starved machine meets late is met: the default of 1 s would fail tests by luck, and 10 s did.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      project('unit', ['unit'], { seconds: 30 }),
      project('architecture', ['architecture.test.ts'], { seconds: 120 }),
      project('services', ['chains', 'contract', 'integration', 'hostages', 'playbook', 'journeys'], { setup: withServices, seconds: 300 }),
      project('browser', ['browser'], { setup: withBrowser, seconds: 300 }),
      project('monitoring', ['monitoring'], { setup: withPrometheus, seconds: 180 }),
    ],
  },
});

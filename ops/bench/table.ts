import type { Found } from './bench.ts';

/** What `--out` writes, as far as a table needs it. */
export interface Report {
  results: Partial<Record<string, Found>>;
}

/** Which goal, ratio and figures make a row; text in a goal is how it begins. */
interface Row {
  bench: string;
  what: string;
  measured(found: Found): string;
  ratio?: string;
  goal?: { begins: string; least?: string; most?: string };
}

const figure = (found: Found, name: string, field: string): string => {
  const value = found.figures[name]?.[field];
  return typeof value === 'number' ? value.toLocaleString('en-US') : '–';
};

const backfilled = (what: string, name: string, least?: string, begins = ''): Row => ({
  bench: 'backfill',
  what,
  measured: (found) => `${figure(found, name, 'blocksPerSecond')} blocks/s against ${figure(found, name, 'bareBlocksPerSecond')}`,
  ratio: `${name} ÷ bare loop`,
  ...(least === undefined ? {} : { goal: { begins, least } }),
});

const proven = (what: string, bench: string, name: string, bare = 'bare loop'): Row => ({
  bench,
  what,
  measured: (found) =>
    `${figure(found, name, 'blocksPerSecond')} blocks/s against ${figure(found, `${name}: ${bare}`, 'blocksPerSecond')}, ${figure(found, name, 'cpuMsPerBlock')} ms of CPU each`,
  ratio: `${name} ÷ ${bare}`,
});

const bounded = (what: string, family: string): Row => ({
  bench: 'bounds',
  what: `${what}: receiving, finding quotes, hashing and signers alone`,
  measured: (found) =>
    `${figure(found, family, 'receiveMsPerBlock')} + ${figure(found, family, 'quotesMsPerBlock')} + ${figure(found, family, 'hashMsPerBlock')} + ${figure(found, family, 'signerMsPerBlock')} ms a block against ${figure(found, family, 'bareMsPerBlock')}`,
  ratio: `${family}: bound ÷ bare loop`,
});

const asked = (what: string, name: string): Row => ({
  bench: 'http',
  what,
  measured: (found) =>
    `${figure(found, name, 'perSecond')}/s against ${figure(found, name, 'statementsPerSecondBare')} (${figure(found, name, 'statements')} statements), p99 ${figure(found, name, 'p99Ms')} ms; a bare server ${figure(found, name, 'bareServerPerSecond')}/s, an empty handler ${figure(found, name, 'emptyHandlerPerSecond')}/s`,
  ratio: `${name} ÷ its statements`,
});

/** From the stream to a committed transaction. */
const stored = (what: string, name: string): Row => ({
  bench: 'sightings',
  what,
  measured: (found) =>
    `${figure(found, name, 'perSecond')}/s against ${figure(found, name, 'barePerSecond')}, ${figure(found, name, 'cpuUsEach')} us of CPU each`,
  ratio: `${name} ÷ bare`,
});

const sent = (what: string, name: string, least?: string): Row => ({
  bench: 'webhooks',
  what,
  measured: (found) =>
    `${figure(found, name, 'perSecond')}/s against ${figure(found, name, 'barePerSecond')}, ${figure(found, name, 'cpuMsPerWebhook')} ms of CPU each`,
  ratio: `${name} ÷ bare`,
  ...(least === undefined ? {} : { goal: { begins: 'P13: webhooks a second', least } }),
});

const soon = (found: Found, share: string): string =>
  `${figure(found, 'from commit to receiver', share)} ms against ${figure(found, 'bare: notified of and posted', share)}`;

/** A page of the console in the longer history. */
const looked = (what: string, name: string): Row => ({
  bench: 'console',
  what: `console: ${what}`,
  measured: (found) =>
    `first byte after ${figure(found, name, 'manyFirstByteMs')} ms against ${figure(found, name, 'manyBareMs')} of its ${figure(found, name, 'statements')} statements, ${figure(found, name, 'many')} payments`,
  ratio: `${name} ÷ its statements`,
});

const MANY_GATEWAYS = '64 gateways, a host each';
const MILLION = '1000000 watched';
const BARE_ENTRY = 'bare: node asked, one entry added';
const BARE_HOP = 'bare: node asked, one row written';

const ROWS: readonly Row[] = [
  backfilled('EVM on anvil, everything read', 'evm on anvil', '0.80', 'P3'),
  backfilled('EVM from memory, everything read', 'evm from memory'),
  backfilled('EVM from memory, receipts only', 'evm from memory, no traces', '0.50', 'P2'),
  proven('EVM alone, everything read and proven', 'evm', 'complete', 'bare headers and receipts'),
  proven('EVM alone, receipts only', 'evm', 'receipts only', 'bare headers and receipts'),
  bounded('EVM bound', 'evm'),
  bounded('EVM bound on anvil', 'evm on anvil'),
  backfilled('TRON from memory', 'tron from memory', '0.50', 'TRON'),
  proven('TRON alone, everything read and proven', 'tron', 'tron'),
  bounded('TRON bound', 'tron'),
  backfilled('Bitcoin from memory', 'bitcoin from memory', '0.36', 'P15'),
  proven('Bitcoin alone, everything read and proven', 'bitcoin', 'bitcoin'),
  bounded('Bitcoin bound', 'bitcoin'),
  {
    bench: 'logs',
    what: 'EVM by logs of two nodes',
    measured: (found) =>
      `${figure(found, 'by logs', 'blocksPerSecond')} blocks/s against ${figure(found, 'bare eth_getLogs', 'blocksPerSecond')}, ${figure(found, 'by logs', 'cpuMsPerBlock')} ms of CPU each`,
    ratio: 'by logs ÷ bare eth_getLogs',
    goal: { begins: 'P1', least: '0.50' },
  },
  {
    bench: 'head',
    what: 'in the stream, subscribed to new heads',
    measured: (found) => `${figure(found, 'in the stream', 'p50Ms')} ms against ${figure(found, BARE_ENTRY, 'p50Ms')} at the median`,
    ratio: 'in the stream p50 ÷ bare',
    goal: { begins: 'in the stream p50', most: '2' },
  },
  {
    bench: 'head',
    what: 'credited, subscribed to new heads',
    measured: (found) => `${figure(found, 'credited', 'p50Ms')} ms against ${figure(found, BARE_HOP, 'p50Ms')} at the median`,
    ratio: 'credited p50 ÷ bare',
    goal: { begins: 'P5: credited p50', most: '3' },
  },
  {
    bench: 'head',
    what: 'webhook received',
    measured: (found) => `${figure(found, 'webhook received', 'p50Ms')} ms at the median, ${figure(found, 'webhook received', 'p95Ms')} at 95 %`,
    goal: { begins: 'P14: webhook received p50', most: '15 ms' },
  },
  {
    bench: 'memory',
    what: 'memory of 1,000,000 addresses',
    measured: (found) => `${figure(found, 'added', 'peakMib')} MiB added, ${figure(found, 'added', 'bytesPerAddress')} bytes each`,
    goal: { begins: 'P6: memory added', most: '45 MiB' },
  },
  {
    bench: 'memory',
    what: 'the whole indexer with them',
    measured: (found) => `${figure(found, MILLION, 'peakRssMib')} MiB at its peak`,
    goal: { begins: 'P6: the whole indexer', most: '180 MiB' },
  },
  {
    bench: 'memory',
    what: 'time of a block, 1,000,000 against 100,000',
    measured: (found) => `${figure(found, MILLION, 'msPerBlock')} ms against ${figure(found, '100000 watched', 'msPerBlock')}`,
    ratio: 'time of a block, 1000000 ÷ 100000 watched',
    goal: { begins: 'P7', most: '1.05' },
  },
  {
    bench: 'memory',
    what: 'start to following with 1,000,000',
    measured: (found) => `${figure(found, MILLION, 'startSeconds')} s, ${figure(found, '0 watched', 'startSeconds')} s with none`,
    goal: { begins: 'P8', most: '2 s' },
  },
  { ...asked('create', 'create'), goal: { begins: 'P9', least: '0.60' } },
  asked('create with an Idempotency-Key', 'create with Idempotency-Key'),
  { ...asked('public read', 'public read'), goal: { begins: 'public read', least: '0.40' } },
  { ...asked('verify', 'verify'), goal: { begins: 'verify', least: '0.40' } },
  {
    bench: 'claims',
    what: 'cashouts of one balance',
    measured: (found) =>
      `${figure(found, 'claims', 'perSecond')}/s against ${figure(found, 'in one statement', 'perSecond')}, p99 ${figure(found, 'claims', 'p99Ms')} ms, ${figure(found, 'claims', 'cpuUsPerClaim')} us of CPU each`,
    ratio: 'claims ÷ in one statement',
    goal: { begins: 'P11', least: '0.80' },
  },
  { ...stored('sightings that are deposits', 'deposits'), goal: { begins: 'P12', least: '20,000/s' } },
  stored('sightings of tokens that nobody configured', 'other tokens'),
  stored('blocks without a sighting', 'empty blocks'),
  stored('the same behind many that are not final yet', 'empty blocks behind them'),
  sent('webhooks of 64 gateways, attempts stored', MANY_GATEWAYS, '0.60'),
  sent('webhooks of one gateway to one host', 'one gateway, one host'),
  {
    bench: 'webhooks',
    what: 'a single webhook, from its commit to its receiver: p50',
    measured: (found) => soon(found, 'p50Ms'),
    goal: { begins: 'P13: from commit to receiver p50', most: '5 ms' },
  },
  {
    bench: 'webhooks',
    what: 'a single webhook, from its commit to its receiver: p99',
    measured: (found) => soon(found, 'p99Ms'),
    goal: { begins: 'P13: from commit to receiver p99', most: '30 ms' },
  },
  looked('payments', 'payments'),
  looked('a payment', 'a payment'),
  looked('balances', 'balances'),
  looked('ledger', 'ledger'),
  looked('payments of operators', 'payments of operators'),
  {
    bench: 'console',
    what: 'console: the worst of them',
    measured: ({ goals }) => `${goals[0]?.measured} times its statements, and ${goals[1]?.measured} times as long in the longer history`,
    goal: { begins: 'first byte ÷ its statements', most: '4' },
  },
  {
    bench: 'page',
    what: 'hosted page on a slow phone: first contentful paint',
    measured: (found) =>
      `${figure(found, 'the page', 'firstPaintMs')} ms, first byte ${figure(found, 'the page', 'firstByteMs')}, against ${figure(found, 'the same bytes', 'firstPaintMs')} and ${figure(found, 'the same bytes', 'firstByteMs')} of the same bytes from memory`,
    ratio: 'first paint ÷ the same bytes',
    goal: { begins: 'first paint', most: '1.1' },
  },
  {
    bench: 'page',
    what: 'hosted page on a slow phone: the address is there',
    measured: (found) =>
      `${figure(found, 'the page', 'addressMs')} ms, ${figure(found, 'the page', 'bytes')} bytes in ${figure(found, 'the page', 'requests')} requests, against ${figure(found, 'one file', 'addressMs')} of one file of ${figure(found, 'one file', 'bytes')}`,
    ratio: 'address ÷ one file',
    goal: { begins: 'address', most: '2' },
  },
  {
    bench: 'growth',
    what: 'statements that read more of a longer history',
    measured: ({ figures }) => `${Object.values(figures).filter(({ grows }) => grows === true).length} of ${Object.keys(figures).length}`,
    goal: { begins: 'statements that grow', most: '0' },
  },
];

/** The figures of a report as the Markdown table of ops/docs/benchmarks.md; benches that were not run leave no rows. Pure. */
export function tableOf({ results }: Report): string {
  const rows = ROWS.flatMap(({ bench, what, measured, ratio, goal }) => {
    const found = results[bench];
    if (found === undefined) return [];
    const verdict = goal === undefined ? undefined : found.goals.find((one) => one.goal.startsWith(goal.begins));
    const bound = goal?.least === undefined ? `at most ${goal?.most}` : `at least ${goal.least}`;
    const told = verdict === undefined ? 'none' : `${bound}: ${verdict.met ? 'met' : 'missed'}`;
    return [`| ${[what, measured(found), ratio === undefined ? '' : String(found.ratios[ratio] ?? '–'), told].join(' | ')} |`];
  });
  return ['| bench | measured | ratio | goal |', '|---|---|---|---|', ...rows, ''].join('\n');
}

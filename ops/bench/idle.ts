import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'redis';
import { type DevFile, instanceDirectory, readDevFile } from '#ops/dev/dev-file.ts';
import { connect } from '#shared/platform/postgres.ts';
import { type AskedOften, LOG_LINE_PREFIX, readStatements } from './idle-statements.ts';

// `npm run idle -- [seconds]`: what a running `npm start` spends that nobody uses: CPU of every process, statements by who asks them, Redis commands.

/** What this calls itself at Postgres. */
const OWN = 'sluice-idle';
/** Whose processes they are; the first are the product's own. */
const KINDS = ['Sluice', 'local chains', 'Postgres and Redis', 'other'] as const;

/** What /proc counts CPU time in on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds spent so far by the runner and everything below it, by what each is. */
async function cpuByName(dev: DevFile): Promise<Map<string, number>> {
  const spent = new Map<string, number>();
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const processes = new Map((await Promise.all(pids.map(async (pid) => [pid, await readProcess(pid)] as const))).filter(([, read]) => read !== undefined));
  for (const [pid, read] of processes) {
    const line: number[] = [];
    for (let at = pid; at > 1 && !line.includes(at); at = processes.get(at)?.parent ?? 0) line.push(at);
    if (!line.includes(dev.runnerPid) || read === undefined) continue;
    const name = nameOf(dev, pid, read.command);
    spent.set(name, (spent.get(name) ?? 0) + read.seconds);
  }
  return spent;
}

async function readProcess(pid: number): Promise<{ parent: number; seconds: number; command: string } | undefined> {
  const [line, command] = await Promise.all(['stat', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => undefined)));
  if (line === undefined || command === undefined) return undefined;
  // The name stands in brackets and may hold anything; what follows it are numbers, those of ended children with them.
  const fields = line
    .slice(line.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return {
    parent: fields[1] ?? 0,
    seconds: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND,
    command: command.replaceAll('\0', ' '),
  };
}

function nameOf(dev: DevFile, pid: number, command: string): string {
  if (pid === dev.runnerPid) return 'npm start itself';
  if (pid === dev.api.pid) return 'api (http, worker)';
  if (pid === dev.signer.pid) return 'signer';
  const indexer = Object.entries(dev.networks).find(([, { indexerPid }]) => indexerPid === pid);
  if (indexer !== undefined) return `indexer ${indexer[0]}`;
  return /anvil|tron-node|bitcoin-node|bitcoind|redis|valkey|postgres/.exec(command)?.[0] ?? 'other';
}

/** Statements that Postgres ran in `seconds`, read from its log, which tells each for that long. */
async function statementsIn(dev: DevFile, log: string, seconds: number): Promise<AskedOften[]> {
  const database = connect(dev.databaseUrl, { name: OWN, max: 1 });
  try {
    const { size } = await stat(log);
    await database.sql.unsafe(`alter system set log_line_prefix = '${LOG_LINE_PREFIX}'`);
    await database.sql`alter system set log_min_duration_statement = 0`;
    await database.sql`select pg_reload_conf()`;
    await pause(seconds * 1_000);
    await database.sql`alter system reset log_min_duration_statement`;
    await database.sql`alter system reset log_line_prefix`;
    await database.sql`select pg_reload_conf()`;
    return readStatements((await readFile(log)).subarray(size).toString('utf8')).filter(({ part }) => part !== OWN);
  } finally {
    await database.end();
  }
}

function kindOf(name: string): (typeof KINDS)[number] {
  if (/^(npm start|api|signer|indexer)/.test(name)) return 'Sluice';
  if (/redis|valkey|postgres/.test(name)) return 'Postgres and Redis';
  return name === 'other' ? 'other' : 'local chains';
}

function say(what: string, figure: number, unit: string): void {
  process.stdout.write(`${what.padEnd(34)} ${figure.toFixed(2).padStart(7)} ${unit}\n`);
}

async function redisCommands(url: string): Promise<number> {
  const client = createClient({ url });
  await client.connect();
  try {
    return Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
  } finally {
    client.destroy();
  }
}

const seconds = Number(process.argv[2] ?? 60);
const directory = instanceDirectory(process.env, process.cwd());
const dev = await readDevFile(directory);
if (dev === undefined) throw new Error('nothing runs here: npm start first');

const [before, commandsBefore, began] = [await cpuByName(dev), await redisCommands(dev.redisUrl), performance.now()];
await pause(seconds * 1_000);
const [after, commandsAfter] = [await cpuByName(dev), await redisCommands(dev.redisUrl)];
const took = (performance.now() - began) / 1_000;
const rows = [...after]
  .map(([name, spent]) => ({ name, spent: ((spent - (before.get(name) ?? 0)) * 60) / took }))
  .sort((one, other) => other.spent - one.spent);
for (const kind of KINDS) {
  const own = rows.filter(({ name }) => kindOf(name) === kind);
  const sum = own.reduce((total, { spent }) => total + spent, 0);
  say(kind, sum, `CPU seconds a minute, ${((sum / 60) * 100).toFixed(1)} % of a core`);
  for (const { name, spent } of own) say(`  ${name}`, spent, 'CPU seconds a minute');
}
say('Redis', (commandsAfter - commandsBefore) / took, 'commands a second');
// Afterwards: writing statements down costs CPU that an idle run does not spend.
const statements = await statementsIn(dev, join(directory, 'logs', 'postgres.log'), seconds);
const perSecond = (some: readonly AskedOften[]): number => some.reduce((sum, { count }) => sum + count, 0) / seconds;
const [byBlock, idle] = [statements.filter((one) => one.byBlock), statements.filter((one) => !one.byBlock)];
say('Postgres', perSecond(statements), 'statements a second');
say('  brought by blocks', perSecond(byBlock), 'statements a second');
say('  idle', perSecond(idle), 'statements a second');
for (const part of new Set(idle.map((one) => one.part))) say(`    ${part}`, perSecond(idle.filter((one) => one.part === part)), 'statements a second');
process.stdout.write('\nidle statements, a second\n');
for (const { part, text, count } of idle) process.stdout.write(`${(count / seconds).toFixed(2).padStart(7)}  ${part.padEnd(24)} ${text.slice(0, 140)}\n`);

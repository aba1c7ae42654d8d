import { type ChildProcess, spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { GUARD } from '#shared/platform/watchdog.ts';

/** Runs a line in a process that is watched, with short limits. */
function watched(
  line: string,
  onSaid: (child: ChildProcess, said: string) => void = () => undefined,
): Promise<{ code: number | null; signal: string | null; said: string }> {
  const program = `
    const { startWatchdog } = await import('./shared/platform/watchdog.ts');
    let used = 0;
    const stop = startWatchdog('patient', { beatMs: 20, blockedMs: 200, fullMs: 100, heapUsed: () => used });
    await new Promise((resolve) => setTimeout(resolve, 100));
    ${line}`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
    onSaid(child, data.toString());
  });
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal, said })));
}

/** Plays turns of the guard: what the process has computed in each, milliseconds, and whether its loop gave a sign. Answers after which of them it was killed. */
function killedAfter(turns: { computedMs: number; beat?: boolean }[]): number | undefined {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  let [computedMs, turnsDone] = [0, 0];
  let killedAt: number | undefined;
  let turn = (): void => undefined;
  const parts: Record<string, object> = {
    'node:worker_threads': { workerData: { beats: beats.buffer, blockedMs: 5_000, everyMs: 250, component: 'played', message: 'blocked' } },
    'node:fs': { writeSync: () => undefined },
  };
  const itself = { pid: 1, cpuUsage: () => ({ user: computedMs * 1_000, system: 0 }), kill: () => (killedAt ??= turnsDone) };
  new Function('require', 'process', 'setInterval', GUARD)(
    (name: string) => parts[name],
    itself,
    (given: () => void) => {
      turn = given;
    },
  );
  for (const { computedMs: more, beat = false } of turns) {
    computedMs += more;
    if (beat) beats[0] = (beats[0] ?? 0) + 1;
    turnsDone += 1;
    turn();
  }
  return killedAt;
}

it('a watchdog leaves a process alone that was charged with a minute in which its whole machine was halted, and still kills one that is blocked', () => {
  const blocked = (turns: number) => Array.from({ length: turns }, () => ({ computedMs: 250 }));
  const halted = { computedMs: 60_000 };
  expect(killedAfter([{ computedMs: 10, beat: true }, halted, halted, { computedMs: 10, beat: true }, ...blocked(15)])).toBeUndefined();
  expect(killedAfter([{ computedMs: 10, beat: true }, ...blocked(25)])).toBe(21);
  expect(killedAfter([{ computedMs: 10, beat: true }, ...blocked(15), { computedMs: 10, beat: true }, ...blocked(19)])).toBeUndefined();
});

/** Waits as a starved process does: its loop stands still and computes nothing, while the guard has its turns. */
const STARVE = 'const standing = new Int32Array(new SharedArrayBuffer(4)); Atomics.wait(standing, 0, 0, 1_500);';

it('a watchdog leaves a process alone that is not scheduled, however long, and one that was stopped', async () => {
  const [starved, stopped] = await Promise.all([
    watched(`${STARVE} process.exit(7);`),
    watched("process.stderr.write('ready'); setTimeout(() => process.exit(8), 300);", (child, said) => {
      if (!said.includes('ready')) return;
      child.kill('SIGSTOP');
      setTimeout(() => child.kill('SIGCONT'), 1_000);
    }),
  ]);
  expect([starved, stopped]).toMatchObject([
    { code: 7, signal: null },
    { code: 8, signal: null },
  ]);
});

it('a watchdog kills a process that computes without a turn, though it is scheduled only now and then', async () => {
  const spun = await watched(
    `${STARVE} for (;;) { const until = process.cpuUsage().user + 20_000; while (process.cpuUsage().user < until); Atomics.wait(standing, 0, 0, 30); }`,
  );
  expect(spun).toMatchObject({ signal: 'SIGKILL', said: expect.stringContaining('blocked') });
});

it('a watchdog kills a blocked process, says why, and leaves a working one and one it no longer watches alone', async () => {
  const [blocked, well, released, full] = await Promise.all([
    watched('for (;;);'),
    watched('await new Promise((resolve) => setTimeout(resolve, 500)); process.exit(7);'),
    watched('await stop(); const until = Date.now() + 600; while (Date.now() < until); process.exit(8);'),
    watched(
      'used = 0.99; setInterval(() => undefined, 1_000); process.on("uncaughtException", (error) => { process.stderr.write(error.message); process.exit(9); });',
    ),
  ]);
  expect(blocked.signal).toBe('SIGKILL');
  expect(JSON.parse(blocked.said.trim().split('\n').at(-1) as string)).toMatchObject({
    level: 60,
    component: 'patient',
    msg: expect.stringContaining('blocked'),
  });
  expect([well.code, released.code]).toEqual([7, 8]);
  expect(full).toMatchObject({ code: 9, said: expect.stringContaining('the heap has been full') });
});

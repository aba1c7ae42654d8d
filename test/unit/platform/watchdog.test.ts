import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';

/** Runs a line in a process that is watched, with short limits. */
function watched(line: string): Promise<{ code: number | null; signal: string | null; said: string }> {
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
  });
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal, said })));
}

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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { freePort } from '#ops/dev/services/wait.ts';

it('never promises one port to two services that start later', async () => {
  const preferred = await freePort();
  const ports = await Promise.all([freePort(preferred), freePort(preferred), freePort(preferred + 1)]);
  expect(new Set(ports).size).toBe(3);
});

it('promises no port that another process was promised, though nobody listens there, until that ends', async () => {
  const preferred = await freePort();
  const program = `import { freePort } from '#ops/dev/services/wait.ts'; console.log(await freePort(${preferred + 1})); setInterval(() => {}, 1_000);`;
  const other = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(other, 'exit');
  try {
    const theirs = Number(String((await once(other.stdout, 'data'))[0]));
    expect(await freePort(theirs)).toBeGreaterThan(theirs);
    other.kill('SIGKILL');
    await ended;
    expect(await freePort(theirs)).toBe(theirs);
  } finally {
    other.kill('SIGKILL');
  }
});

it('chooses below the ports of outgoing connections, which may be taken before the service starts', async () => {
  for (const port of await Promise.all(Array.from({ length: 20 }, () => freePort()))) {
    expect(port).toBeGreaterThanOrEqual(10_000);
    expect(port).toBeLessThan(32_768);
  }
});

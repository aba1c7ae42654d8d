import { expect, it } from 'vitest';
import { freePort } from '#ops/dev/services/wait.ts';

it('never promises one port to two services that start later', async () => {
  const preferred = await freePort();
  const ports = await Promise.all([freePort(preferred), freePort(preferred), freePort(preferred + 1)]);
  expect(new Set(ports).size).toBe(3);
});

it('chooses below the ports of outgoing connections, which may be taken before the service starts', async () => {
  for (const port of await Promise.all(Array.from({ length: 20 }, () => freePort()))) {
    expect(port).toBeGreaterThanOrEqual(10_000);
    expect(port).toBeLessThan(32_768);
  }
});

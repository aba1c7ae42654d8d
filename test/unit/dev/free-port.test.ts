import { expect, it } from 'vitest';
import { freePort } from '#ops/dev/services/wait.ts';

it('never promises one port to two services that start later', async () => {
  const preferred = await freePort();
  const ports = await Promise.all([freePort(preferred), freePort(preferred), freePort(preferred + 1)]);
  expect(new Set(ports).size).toBe(3);
});

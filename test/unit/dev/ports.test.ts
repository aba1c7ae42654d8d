import { createServer, type Server } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { choosePorts } from '#ops/dev/processes.ts';
import { freePort, holdExactly } from '#ops/dev/services/wait.ts';

const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

async function taken(): Promise<number> {
  const port = await freePort();
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  releases.push(() => new Promise((resolve) => void server.close(() => resolve())));
  return port;
}

it.each(['SLUICE_PORT', 'SLUICE_CHECKOUT_PORT', 'SLUICE_METRICS_PORT'])(
  'a taken port that %s names is refused by its number and the variable, never replaced',
  async (variable) => {
    const port = await taken();
    await expect(choosePorts({ [variable]: String(port) }, () => undefined)).rejects.toThrow(
      new RegExp(`cannot have port ${port}, which ${variable} names: somebody else listens on it`),
    );
  },
);

it.each(['0', '65536', 'http', '-1'])('a port named %s is refused as none', async (named) => {
  await expect(choosePorts({ SLUICE_PORT: named }, () => undefined)).rejects.toThrow(`cannot have port ${named}, which SLUICE_PORT names: not a port`);
});

it('a refusal lets go of the ports that were held before it', async () => {
  const [api, checkout] = [await freePort(), await taken()];
  await expect(choosePorts({ SLUICE_PORT: String(api), SLUICE_CHECKOUT_PORT: String(checkout) }, () => undefined)).rejects.toThrow('SLUICE_CHECKOUT_PORT');
  const again = await holdExactly(api);
  expect(again).toMatchObject({ port: api });
  if (typeof again !== 'string') await again.release();
});

it('ports are listened on before they are spoken of, and until they are let go, an empty variable being none', async () => {
  const api = await freePort();
  const said: string[] = [];
  const { ports, release } = await choosePorts({ SLUICE_PORT: String(api), SLUICE_CHECKOUT_PORT: '' }, (line) => said.push(line));
  releases.push(release);
  expect(ports.api).toBe(api);
  expect(await holdExactly(ports.api)).toBe('EADDRINUSE');
  expect(await holdExactly(ports.checkout)).toBe('EADDRINUSE');
  for (const line of said) expect(line).toMatch(/^port \d+ is taken; .* uses \d+$/);
  await release(ports.api);
  expect(await holdExactly(ports.receiver)).toBe('EADDRINUSE');
  const own = await holdExactly(ports.api);
  expect(own).toMatchObject({ port: api });
  if (typeof own !== 'string') releases.push(own.release);
});

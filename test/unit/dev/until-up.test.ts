import { expect, it } from 'vitest';
import { isAlive, type Service, startService, untilUp } from '#ops/dev/services/child.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';

const node = (script: string): Promise<Service> =>
  startService({ name: 'a node', command: process.execPath, args: ['-e', script], cwd: '/', env: { PATH: process.env.PATH }, onLine: () => undefined });
const LASTING = 'setInterval(() => undefined, 1000)';

it('a service that dies while it starts is told at once, with what it said last', async () => {
  const service = await node("console.log('no room on the disk'); process.exitCode = 3");
  await expect(untilUp(service, async () => false, { what: 'a node to answer' })).rejects.toThrow('a node stopped while starting\n  no room on the disk');
});

it('a service whose start is interrupted is stopped, and the reason thrown', async () => {
  const service = await node(LASTING);
  const stopping = new AbortController();
  const waiting = untilUp(service, async () => false, { what: 'a node to answer', signal: stopping.signal });
  stopping.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(isAlive(service.pid)).toBe(false);
});

it('a service that takes a request and never answers it holds up nobody who stops', async () => {
  const port = await freePort();
  const service = await node(`require('node:http').createServer(() => undefined).listen(${port}, '127.0.0.1')`);
  const stopping = new AbortController();
  let asked = 0;
  const ask = async (): Promise<boolean> => {
    await waitFor(
      async () => (await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(200) }).catch((error: Error) => error.name)) === 'TimeoutError',
      {
        what: 'it to listen',
      },
    );
    setTimeout(() => stopping.abort(new Error('enough')), 50);
    asked += 1;
    return (await fetch(`http://127.0.0.1:${port}`)).ok;
  };
  await expect(untilUp(service, ask, { what: 'a node to answer', signal: stopping.signal })).rejects.toThrow('enough');
  expect([asked, isAlive(service.pid)]).toEqual([1, false]);
});

it('a process id that cannot be written down leaves no process', async () => {
  let pid = 0;
  const onStart = async (started: number): Promise<void> => {
    pid = started;
    throw new Error('disk full');
  };
  const options = { name: 'a node', command: process.execPath, args: ['-e', LASTING], cwd: '/', env: { PATH: process.env.PATH }, onLine: () => undefined };
  await expect(startService({ ...options, onStart })).rejects.toThrow('disk full');
  expect(pid).toBeGreaterThan(0);
  expect(isAlive(pid)).toBe(false);
});

it('who waits says again and again what for, and how long already, and not a word when it came at once', async () => {
  const said: string[] = [];
  const tell = (line: string): void => void said.push(line);
  await waitFor(() => true, { what: 'a node to answer', tell, tellEveryMs: 0 });
  expect(said).toEqual([]);
  let asked = 0;
  await waitFor(() => ++asked > 3, { what: 'a node to answer', everyMs: 1, tell, tellEveryMs: 0 });
  expect(said).toEqual(Array.from({ length: 3 }, () => 'waiting for a node to answer, 0 s so far'));
});

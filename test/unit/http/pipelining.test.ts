import express from 'express';
import { expect, it } from 'vitest';
import { closeHttpServer, createHttpServer } from '#api/http/server.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { dial } from '#test/contract/raw-http.ts';

it('every answer closes with its connection, those too whose turn never came', async () => {
  const app = express();
  const [arrived, closed]: [string[], string[]] = [[], []];
  app.use((request, response) => {
    arrived.push(request.path);
    response.once('close', () => closed.push(request.path));
  });
  const server = createHttpServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const { write, socket } = dial(`http://127.0.0.1:${port}`);
  const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
  write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  await waitFor(() => arrived.length === paths.length, { what: 'all of them' });
  socket.destroy();
  await waitFor(() => closed.length === paths.length, { what: 'all of them to close' });
  expect(closed.sort()).toEqual(paths.sort());
  await closeHttpServer(server);
});

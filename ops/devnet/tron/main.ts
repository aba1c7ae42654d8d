// The local TRON node as a process of its own: `--port 9090 --data <folder> --interval 1`.
import { parseArgs } from 'node:util';
import { startTronNode } from './start.ts';

const { values } = parseArgs({ options: { port: { type: 'string' }, data: { type: 'string' }, interval: { type: 'string' }, lag: { type: 'string' } } });

const node = await startTronNode({
  ...(values.port !== undefined && { port: Number(values.port) }),
  ...(values.data !== undefined && { folder: values.data }),
  ...(values.interval !== undefined && { intervalSeconds: Number(values.interval) }),
  ...(values.lag !== undefined && { solidLag: Number(values.lag) }),
});
process.stdout.write(`Listening on ${node.url}\n`);

const stop = (): void => {
  void node.stop().then(() => process.exit(0));
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);

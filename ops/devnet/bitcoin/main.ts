// The local Bitcoin node as a process of its own: `--port 18443 --data <folder> --interval 1 --faucet`.
import { parseArgs } from 'node:util';
import { startBitcoinNode } from './start.ts';

const { values } = parseArgs({
  options: { port: { type: 'string' }, data: { type: 'string' }, interval: { type: 'string' }, credentials: { type: 'string' }, faucet: { type: 'boolean' } },
});

const node = await startBitcoinNode({
  ...(values.port !== undefined && { port: Number(values.port) }),
  ...(values.data !== undefined && { folder: values.data }),
  ...(values.interval !== undefined && { intervalSeconds: Number(values.interval) }),
  ...(values.faucet !== undefined && { faucet: values.faucet }),
  ...(values.credentials !== undefined && { credentials: values.credentials }),
});
process.stdout.write(`Listening on ${new URL(node.url).host}\n`);

const stop = (): void => {
  void node.stop().then(() => process.exit(0));
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);

import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEMO_TRON_TOKENS } from '#ops/devnet/tron/demo.ts';
import { tronControl } from '#ops/devnet/tron/control.ts';
import { payLocally } from '#ops/devnet/tron/send.ts';
import { type NodeWithWeb, newAccount, openNode, withWeb } from './tron-node.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-tron-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const everything = async (node: NodeWithWeb): Promise<unknown> => {
  const { height, id, solidHeight, pool } = await node.control.status();
  const infos = await Promise.all(Array.from({ length: height }, (_, number) => node.ask('wallet/gettransactioninfobyblocknum', { num: number + 1 })));
  const blocks = await Promise.all(Array.from({ length: height + 1 }, (_, num) => node.ask('wallet/getblockbynum', { num })));
  return { height, id, solidHeight, pool, blocks, infos, accounts: await node.control.accounts() };
};

/** Payments, a token, a reorganisation, gifts, something waiting: whatever a chain can remember. */
async function live(node: NodeWithWeb): Promise<void> {
  const bob = newAccount();
  await node.control.setSolidLag(5);
  await node.control.fund(bob.base58, 5n);
  const token = await node.control.deployToken({ symbol: 'KEPT', decimals: 2, returns: 'true' });
  await node.control.mint(token, bob.base58, 7n);
  await payLocally(node.url, { to: bob.base58, contract: null, raw: 10n });
  await node.control.mine();
  await payLocally(node.url, { to: bob.base58, contract: DEMO_TRON_TOKENS.USDT, raw: 11n });
  await node.control.mine(2);
  await node.control.reorg(2, 'drop');
  await node.control.fund(bob.base58, 100n);
  await node.control.warp(1_000);
  await node.control.mine();
  await payLocally(node.url, { to: bob.base58, contract: null, raw: 12n });
}

it('is the same chain after a stop, and after being stopped again', async () => {
  const first = await openNode({ folder });
  await live(first);
  const before = await everything(first);
  await first.stop();
  const second = await openNode({ folder });
  expect(await everything(second)).toEqual(before);
  await second.control.reorg(1, 'drop');
  await second.control.mine();
  const later = await everything(second);
  await second.stop();
  const third = await openNode({ folder });
  expect(await everything(third)).toEqual(later);
  expect((await third.control.status()).nowMs).toBeGreaterThan(Date.now() + 900_000);
  await third.stop();
});

it('survives SIGKILL, and a last line that was cut short', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'ops/devnet/tron/main.ts', '--data', folder, '--interval', '600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const url = line.replace('Listening on ', '');
  const node = withWeb({ url, control: tronControl(url), stop: async () => undefined });
  await live(node);
  const before = await everything(node);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await appendFile(join(folder, 'chain.jsonl'), '{"block":{"number":99,"par');
  const again = await openNode({ folder });
  expect(await everything(again)).toEqual(before);
  await again.control.mine();
  await again.stop();
  for (const each of (await readFile(join(folder, 'chain.jsonl'), 'utf8')).trim().split('\n')) JSON.parse(each);
});

it('begins the same chain from the same time, and another one from another', async () => {
  const genesis = async (genesisTimeMs: number): Promise<unknown> => {
    const node = await openNode({ genesisTimeMs });
    const block = await node.ask('wallet/getblockbynum', { num: 0 });
    await node.stop();
    return block.blockID;
  };
  const [first, same, other] = [await genesis(1_790_000_000_000), await genesis(1_790_000_000_000), await genesis(1_790_000_003_000)];
  expect(same).toBe(first);
  expect(other).not.toBe(first);
});

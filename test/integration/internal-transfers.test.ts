import { randomBytes } from 'node:crypto';
import { toFunctionSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, mined } from '#ops/dev/local-evm.ts';
import { callData } from '#ops/dev/services/evm-node.ts';
import { anIndexerWorld, type IndexerWorld } from './indexer-world.ts';

describe('the indexer and coins that contracts pass on', () => {
  let world: IndexerWorld;
  let passer: string;
  beforeAll(async () => {
    world = await anIndexerWorld({ blocksToFinal: 4 });
    await world.chain.node.call('evm_setAutomine', [true]);
    passer = await deploy(world.chain.node, 'Passer');
    await world.chain.node.call('evm_setAutomine', [false]);
    world.startConsumer();
    await world.start();
  });
  afterAll(() => world?.stop());

  const forward = async (to: string, value: bigint): Promise<string> => {
    const data = callData(toFunctionSelector('function forward(address)').slice(2), to);
    return world.chain.node.send({ from: world.chain.faucet, to: passer, data, value, gas: 500_000n });
  };
  const watching = async (): Promise<string> => {
    const address = `0x${randomBytes(20).toString('hex')}`;
    await world.watch(address);
    await world.watched(address);
    return address;
  };
  const seenAt = async (address: string) =>
    (await world.sightings())
      .filter((one) => one.recipient === address)
      .map(({ kind, txid, ordinal, height, sender, rawAmount, canonical }) => ({ kind, txid, ordinal, height, sender, rawAmount, canonical }));

  it('a block the chain takes back takes them with it, and they are the same transfer where they are mined again', async () => {
    const alice = await watching();
    const txid = await forward(alice, 5n);
    await world.chain.mine();
    const { height } = await world.caughtUp();
    const one = { kind: 'internal', txid, ordinal: 1, sender: passer, rawAmount: '5' };
    expect(await seenAt(alice)).toEqual([{ ...one, height, canonical: true }]);
    const raw = await world.chain.node.call<string>('eth_getRawTransactionByHash', [txid]);

    await world.chain.reorg(1);
    await world.chain.mine();
    await world.caughtUp();
    expect(await seenAt(alice)).toEqual([{ ...one, height, canonical: false }]);

    await world.chain.node.call('eth_sendRawTransaction', [raw]);
    await world.chain.mine();
    const again = await world.caughtUp();
    expect(await seenAt(alice)).toEqual([
      { ...one, height, canonical: false },
      { ...one, height: again.height, canonical: true },
    ]);
  });

  it('are found in blocks that were mined while nobody read, though read as a range', async () => {
    const bob = await watching();
    const before = await world.caughtUp();
    await world.chain.node.call('evm_setAutomine', [true]);
    const txid = await forward(bob, 6n);
    await mined(world.chain.node, txid);
    await world.chain.node.call('evm_setAutomine', [false]);
    await world.chain.mine(40);
    await world.caughtUp();
    expect(await seenAt(bob)).toMatchObject([{ kind: 'internal', txid, ordinal: 1, height: before.height + 1, rawAmount: '6', canonical: true }]);
    expect(await world.database.sql`select 1 from blind_blocks`).toHaveLength(0);
  });
});

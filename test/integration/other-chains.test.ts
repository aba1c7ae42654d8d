import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { familyOf } from '#ops/dev/families.ts';
import { refuseOtherChains } from '#ops/dev/local-networks.ts';
import { aChainOf } from '#test/harness/chains.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { demoNetwork } from '#test/harness/networks.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

const open = async (name: string): Promise<CommonChain> => {
  const chain = await aChainOf(await demoNetwork(name), { blockSeconds: 0 });
  running.push(chain);
  return chain;
};

/** A database that followed `chain` up to its block 3. */
async function followed(name: string, chain: CommonChain): Promise<FreshDatabase> {
  await chain.mine(5);
  const database = await freshDatabase();
  running.push({ stop: () => database.drop() });
  const { sql } = database;
  const { family, chainId, nativeSymbol } = await demoNetwork(name);
  const [genesis, final] = await Promise.all([0, 3].map((height) => familyOf(family).open(chain.url).blockHash(height)));
  const id = randomUUID();
  await sql`insert into networks (id, name, family, chain_id, genesis_hash, native_symbol) values (${id}, ${name}, ${family}, ${chainId}, ${genesis ?? ''}, ${nativeSymbol})`;
  await sql`insert into chain_blocks (network_id, height, hash, parent_hash, block_time, canonical) values (${id}, 3, ${final ?? ''}, '', now(), true)`;
  await sql`insert into chain_tips (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq) values (${id}, 3, ${final ?? ''}, now(), 3, 3, 3, 1, 1)`;
  return database;
}

describe.each(['ethereum', 'tron'])('npm start on a database that followed %s', (name) => {
  it('goes on with the same chain', async () => {
    const chain = await open(name);
    const { url } = await followed(name, chain);
    await refuseOtherChains(url, [{ ...(await demoNetwork(name)), rpcUrls: [chain.url] }]);
  });

  it('refuses another one, one that lost final blocks, and a node that does not answer, each with what to do', async () => {
    const chain = await open(name);
    const database = await followed(name, chain);
    const at = async (rpcUrl: string): Promise<void> => refuseOtherChains(database.url, [{ ...(await demoNetwork(name)), rpcUrls: [rpcUrl] }]);
    await expect(at('http://127.0.0.1:9')).rejects.toThrow('the node at http://127.0.0.1:9 does not answer');
    await database.sql`update chain_blocks set hash = ${'f'.repeat(64)}`;
    await expect(at(chain.url)).rejects.toThrow(`${name}: this chain lost blocks that were final (was its node killed?): npm start -- --reset`);
    await database.sql`update networks set genesis_hash = ${'f'.repeat(64)}`;
    await expect(at(chain.url)).rejects.toThrow(`${name}: this chain is new: npm start -- --reset`);
  });
});

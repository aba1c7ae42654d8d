import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Chain } from '#api/deps.ts';
import { pinGenesis } from '#api/operator/pin-genesis.ts';
import { listGenesisHashes } from '#api/store/networks.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';

const OWN = `0x${'11'.repeat(32)}`;
const OTHER = `0x${'22'.repeat(32)}`;
let world: InProcess;
beforeEach(async () => {
  world = await inProcess({ moreNetworks: (demo) => [{ ...demo, name: 'another', chainId: '424242' }] });
});
afterEach(() => world.stop());

/** The networks of this deployment, whose nodes answer as they are told to. */
function chains(answers: Record<string, () => Promise<string>>): Chain[] {
  return [...world.deps.chains.values()].map((chain) => ({ ...chain, reader: { genesisHash: answers[chain.config.name] } as unknown as Chain['reader'] }));
}
const pinned = async (): Promise<Record<string, string>> => Object.fromEntries(await listGenesisHashes(world.deps.db.sql, ['ethereum', 'another']));

it('which chain a network is, is looked at though the nodes of another one serve a chain that is none of the books', async () => {
  await world.database.sql`update networks set genesis_hash = ${OWN} where name = 'ethereum'`;
  const looked = pinGenesis(world.deps.db, chains({ ethereum: async () => OTHER, another: async () => OWN }), world.deps.log);
  await expect(looked).rejects.toThrow('ethereum: this chain is new');
  expect(await pinned()).toEqual({ ethereum: OWN, another: OWN });
});

it('which chain a network is, is looked at while the nodes of another one do not answer', async () => {
  let answer: (hash: string) => void = () => undefined;
  const late = new Promise<string>((resolve) => {
    answer = resolve;
  });
  const looked = pinGenesis(world.deps.db, chains({ ethereum: () => late, another: async () => OWN }), world.deps.log);
  await waitFor(async () => (await pinned()).another === OWN, { what: 'the network whose nodes answer to be looked at' });
  answer(OWN);
  expect(await looked).toBe(2);
});

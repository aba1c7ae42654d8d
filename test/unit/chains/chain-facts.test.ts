import { expect, it } from 'vitest';
import { factsOf } from '#shared/chains/chain-facts.ts';
import { NETWORKS } from '#shared/chains/networks.ts';

const known = (name: string) => {
  const network = NETWORKS.find((one) => one.name === name);
  if (network === undefined) throw new Error(`there is no ${name}`);
  return network;
};

it('takes counts of blocks from the configuration and knows how long a node lets a tag wait', () => {
  expect(factsOf(known('bitcoin'))).toEqual({ stallSeconds: 7_200, confirmationsRequired: 6, expectedSeconds: 4_200 });
  expect(factsOf(known('ethereum'))).toEqual({ stallSeconds: 180, confirmationsRequired: 64, expectedSeconds: 1_152 });
  expect(factsOf(known('tron'))).toEqual({ stallSeconds: 60, confirmationsRequired: 20, expectedSeconds: 60 });
});

it('expects an end of every network, known or not', () => {
  for (const network of [...NETWORKS, { ...known('ethereum'), chainId: '424242' }]) {
    const { confirmationsRequired, expectedSeconds } = factsOf(network);
    expect(confirmationsRequired, network.name).toBeGreaterThan(0);
    expect(expectedSeconds, network.name).toBeGreaterThan(0);
  }
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { assertBooksEqualChain, aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';
import { type Lack, LACKS, type LesserNode, startLesserNode } from '#test/harness/lesser-node.ts';

const NODES: [string, readonly Lack[]][] = [
  ...LACKS.map((lack): [string, Lack[]] => [lack, [lack]]),
  ['overrides of estimates', ['overrides of estimates']],
  ['all of these', LACKS],
];

describe.each(NODES)('through an EVM node without %s', (_what, lacks) => {
  let lesser: LesserNode;
  let treasury: Treasury;
  let shop: Gateway;
  beforeEach(async () => {
    lesser = await startLesserNode('', lacks);
    treasury = await aTreasury({
      configure(network) {
        lesser.target = network.rpcUrls[0] as string;
        return { ...network, rpcUrls: [lesser.url] };
      },
    });
    shop = await treasury.world.aGateway();
  });
  afterEach(async () => {
    try {
      await assertBooksEqualChain(treasury);
      await treasury.audit();
    } finally {
      await treasury.stop();
      await lesser.stop();
    }
  });

  const held = (symbol: string): Promise<bigint> => {
    const contract = treasury.assets[symbol]?.contract ?? null;
    return contract === null ? treasury.chain.balance(MERCHANT) : treasury.chain.tokenBalance(contract, MERCHANT);
  };

  it('deposits are swept with gas from the funding wallet, and cashouts of tokens and coins arrive to the unit; what it lacks is named', async () => {
    await treasury.earn(shop, 'USDT', '100');
    await treasury.earn(shop, 'ETH', '0.5');
    const [tokens, coins] = [await treasury.cashOut(shop, 'USDT', '60'), await treasury.cashOut(shop, 'ETH', '0.4')];
    await treasury.settleAll();
    for (const [symbol, { id }, decimals] of [['USDT', tokens, 6] as const, ['ETH', coins, 18] as const]) {
      const settled = await getSettlement(treasury.deps, { gateway: shop, id });
      expect(settled).toMatchObject({ status: 'SETTLED', receivedAmount: settled.netAmount });
      expect(await held(symbol)).toBe(toUnits(parseTrusted(settled.netAmount), decimals));
    }
    const made = await treasury.world.database.sql<{ purpose: string; status: string }[]>`select distinct purpose, status from payouts order by purpose`;
    expect(made.map(({ purpose, status }) => `${purpose} ${status}`)).toEqual(['settlement CONFIRMED', 'sweep CONFIRMED', 'top_up CONFIRMED']);
    expect(lesser.refused.length).toBeGreaterThan(0);
    await treasury.mine(2);
    await treasury.credit();

    // And it is named with exactly what it lacks.
    const [chain] = [...treasury.deps.chains.values()];
    expect(await chain?.reader.findLacks()).toEqual([
      { provider: new URL(lesser.url).host, lacks: lacks.map((lack) => (lack === 'overrides of estimates' ? 'state overrides' : lack)) },
    ]);
    lesser.lacks = [];
    expect(await chain?.reader.findLacks()).toEqual([{ provider: new URL(lesser.url).host, lacks: [] }]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evmPayer } from '#shared/chains/evm/payer.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import type { Payer } from '#shared/chains/chain.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { FULL } from '#test/harness/counts.ts';
import { type Lack, LACKS, type LesserNode, startLesserNode } from '#test/harness/lesser-node.ts';
import { describeDeposits } from './conformance/deposits.ts';
import { evm } from './conformance/evm.ts';
import type { FamilyDriver } from './conformance/family.ts';
import { describeGaps } from './conformance/gaps.ts';
import { describeReorganisations } from './conformance/reorganisations.ts';
import { aRig, type Rig } from './conformance/rig.ts';

const NOT_FINAL = 4;
const NODES: [string, readonly Lack[]][] = [
  ...LACKS.map((lack): [string, Lack[]] => [lack, [lack]]),
  ['overrides of estimates', ['overrides of estimates']],
  ['all of these', LACKS],
];
/** What is read is the same without access lists and overrides: those are about paying. */
const READ_FROM = FULL ? NODES : NODES.filter(([what]) => what === 'all of these');

/** The driver of EVM chains over a node that lacks something: without traces what contracts pass on is not seen, so nobody pays like that. */
function driverWithout(lacks: readonly Lack[], started: (node: LesserNode) => void): FamilyDriver {
  return {
    ...evm,
    async open(configured, options) {
      const node = await evm.open(configured, options);
      const lesser = await startLesserNode(node.network.rpcUrls[0] as string, lacks);
      started(lesser);
      return {
        ...node,
        network: { ...node.network, rpcUrls: [lesser.url] },
        ways: lacks.includes('traces') ? node.ways.filter(({ kind }) => kind !== 'internal') : node.ways,
        async stop() {
          await lesser.stop();
          await node.stop();
        },
      };
    },
  };
}

describe.each(READ_FROM)('an EVM node without %s', (_what, lacks) => {
  let rig: Rig;
  let lesser: LesserNode;
  beforeAll(async () => {
    rig = await aRig(
      driverWithout(lacks, (node) => {
        lesser = node;
      }),
      { notFinal: NOT_FINAL },
    );
  });
  afterAll(() => rig?.stop());

  describe('a deposit', () => describeDeposits(() => rig));
  describe('a reorganisation', () => describeReorganisations(() => rig, NOT_FINAL));
  describe('a gap', () => describeGaps(() => rig));
  it('was asked for what it lacks, and refused it', () => {
    expect(lesser.refused.length).toBeGreaterThan(0);
  });
});

describe.each(NODES)('quotes of an EVM node without %s', (_what, lacks) => {
  const [POOR, RICH, PAYEE] = [`0x${'d1'.repeat(20)}`, '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', `0x${'d2'.repeat(20)}`];
  let chain: TestChain;
  let lesser: LesserNode;
  let [whole, payer]: [Payer | undefined, Payer | undefined] = [undefined, undefined];
  beforeAll(async () => {
    chain = await aChain({});
    await chain.mint(chain.tokens.USDC, RICH, 1_000n);
    lesser = await startLesserNode(chain.url, lacks);
    [whole, payer] = [chain.url, lesser.url].map((url) => evmPayer({ chainId: '31337' }, openRpc(url)));
  });
  afterAll(async () => {
    await lesser?.stop();
    await chain?.stop();
  });

  it.each([
    ['coins that a wallet has', RICH, null],
    ['coins that a wallet does not have', POOR, null],
    ['a token that a wallet has', RICH, 'USDC' as const],
    ['a token that a wallet does not have', POOR, 'USDC' as const],
  ])('are enough for the transfer itself, and not much more: %s', async (_case, sender, symbol) => {
    const intent = { sender, recipient: PAYEE, contract: symbol === null ? null : chain.tokens[symbol], rawAmount: 700n };
    const [best, told] = [await (whole as Payer).estimate(intent), await (payer as Payer).estimate(intent)];
    if (!best.ok || !told.ok) throw new Error(`refused: ${JSON.stringify([best, told])}`);
    const [gas, needed] = [told.quote.units as bigint, best.quote.units as bigint];
    // What nodes estimate has head-room of a fifth.
    expect(gas * 12n >= needed * 10n).toBe(true);
    expect(gas <= needed + 60_000n).toBe(true);
  });

  it('refuse what the chain would refuse', async () => {
    const intent = { sender: RICH, recipient: PAYEE, contract: chain.tokens.USDC, rawAmount: 10_000n };
    expect(await (payer as Payer).quote(intent)).toMatchObject({ ok: false });
  });
});

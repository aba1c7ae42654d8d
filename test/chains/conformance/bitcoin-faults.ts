import { coreCall } from './bitcoin-rpc.ts';
import type { FamilyNode, Fault } from './family.ts';
import type { Meddling, Refusal } from './meddler.ts';

const SILENCE: readonly [string, unknown][] = [
  ['null', null],
  ['[]', []],
  ['{}', {}],
  ['an empty text', ''],
];
/** Every question a block is found and read by. */
const QUESTIONS = ['getbestblockhash', 'getblockhash', 'getblockheader', 'getblock'];

/** What a node says of a block it does not have, and of a height it has not reached. */
const NOT_FOUND: Refusal = { refusal: { code: -5, message: 'Block not found' } };
const OUT_OF_RANGE: Refusal = { refusal: { code: -8, message: 'Block height out of range' } };

/** Empty answers, and refusals, to each question a block is read with. */
export function withholding(): Fault[] {
  const fault = (method: string, what: string, answer: unknown): Fault => ({
    name: `${what} to ${method}`,
    meddling: ({ call, answer: real }) => (call === method ? answer : real),
  });
  return [
    ...QUESTIONS.flatMap((method) => SILENCE.map(([what, answer]) => fault(method, what, answer))),
    fault('getblock', 'a block that is not there yet', NOT_FOUND),
    fault('getblock', 'a pruned block', { refusal: { code: -1, message: 'Block not available (pruned data)' } }),
    fault('getblockhash', 'a height that is not there yet', OUT_OF_RANGE),
    fault('getbestblockhash', 'a node that warms up', { refusal: { code: -28, message: 'Loading block index…' } }),
  ];
}

/** The past: the head is `blocks` lower, and whatever is above it was never heard of. */
export async function lagging({ chain }: FamilyNode, blocks: number): Promise<Meddling> {
  const call = coreCall(chain.url);
  const height = await call<number>('getblockcount');
  const seen = height - blocks;
  const best = await call<string>('getblockhash', [seen]);
  const old = await call<{ time: number; mediantime: number }>('getblockheader', [best]);
  const unheard = new Set<unknown>();
  for (let at = seen + 1; at <= height; at++) unheard.add(await call<string>('getblockhash', [at]));
  return ({ call: method, params, answer }) => {
    const [which] = Array.isArray(params) ? (params as unknown[]) : [];
    if (method === 'getbestblockhash') return best;
    if (method === 'getblockcount') return seen;
    if (method === 'getblockchaininfo')
      return { ...(answer as object), blocks: seen, headers: seen, bestblockhash: best, time: old.time, mediantime: old.mediantime };
    if (method === 'getblockhash') return Number(which) > seen ? OUT_OF_RANGE : answer;
    if (method === 'getblock' || method === 'getblockheader') return unheard.has(which) ? NOT_FOUND : asOf(answer, seen, unheard);
    return answer;
  };
}

/** A block or a header as a node tells it whose head is at `seen`. */
function asOf(answer: unknown, seen: number, unheard: ReadonlySet<unknown>): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  const told = answer as { height?: number; confirmations?: number; nextblockhash?: string };
  return {
    ...told,
    ...(told.height === undefined || told.confirmations === -1 ? {} : { confirmations: seen - told.height + 1 }),
    ...(unheard.has(told.nextblockhash) ? { nextblockhash: undefined } : {}),
  };
}

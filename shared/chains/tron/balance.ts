import { type BlockContent, ChainUnavailable } from '../chain.ts';
import { toHex20 } from './address.ts';
import type { TronApi } from './http.ts';
import { type Header, isNothing, readList, readObject, readUnits, unsure } from './replies.ts';

const WORD = /^[0-9a-f]{64}$/;
/** Blocks read together on the way back. */
const STEP = 10;
/** Blocks kept; more than one audit of many addresses sees go by. */
const REMEMBERED = 64;
/** Times a balance is read again because a block came in between. */
const TRIES = 5;

/** Chain units held at the node's present head. */
export async function presentBalance(call: TronApi, address: string, contract: string | null): Promise<bigint> {
  const owner = `41${toHex20(address)}`;
  if (contract === null) {
    const answer = await call('wallet/getaccount', { address: owner });
    // Nobody ever paid it: not an account yet.
    if (isNothing(answer)) return 0n;
    const account = readObject(answer, 'the account');
    return account.address === owner ? readUnits(account.balance, 'the balance') : unsure(`asked for the account ${owner}, got another one`);
  }
  const answer = readObject(
    await call('wallet/triggerconstantcontract', {
      owner_address: owner,
      contract_address: `41${toHex20(contract)}`,
      function_selector: 'balanceOf(address)',
      parameter: toHex20(address).padStart(64, '0'),
    }),
    'the answer of balanceOf',
  );
  const result = readObject(answer.result, 'the result of balanceOf');
  const [word, ...more] = readList(answer.constant_result, 'the answer of balanceOf');
  // A message beside `result: true` says that the simulation reverted.
  if (result.result !== true || result.message !== undefined || result.code !== undefined) return noToken(`${contract} refuses balanceOf`);
  return typeof word === 'string' && WORD.test(word) && more.length === 0 ? BigInt(`0x${word}`) : noToken(`${contract} answered balanceOf with no number`);
}

/** What the contract is at fault for, not the node: another endpoint would say the same. */
function noToken(problem: string): never {
  throw new ChainUnavailable(problem, { trouble: 'refused' });
}

/** What walking back takes of the reader. */
export interface Walk {
  headNow(): Promise<Header>;
  /** Everything that happened in each of a few consecutive blocks. */
  contents(from: number, to: number): Promise<BlockContent[]>;
}

/** Chain units that an address held at a height. */
export type PastBalance = (address: string, contract: string | null, height: number) => Promise<bigint>;

/**
 * Balances at past heights. Nodes keep no past state over this API, so the present balance is taken between two looks at an
 * unchanged head, and every movement after `height`, as this reader reports them, is taken back: what is booked as an
 * opening plus what is sighted from then on is exact by construction. Costs what reading these blocks costs; the newest are
 * remembered by their hash, as the addresses of one audit ask for the same ones. Whatever the reader cannot see (TRX passed
 * on, at a node that records none) it cannot take back either.
 * @throws ChainUnavailable when the head has not reached `height`, or moves each time it is looked at again
 */
export function pastBalances(call: TronApi, walk: Walk): PastBalance {
  const remembered = new Map<string, BlockContent>();

  const contentOf = async (hash: string, height: number, lowest: number): Promise<BlockContent> => {
    const known = remembered.get(hash);
    if (known !== undefined) return known;
    const read = await walk.contents(Math.max(lowest, height - STEP + 1), height);
    const content = read.at(-1);
    if (content?.block.hash !== hash) return unsure(`block ${height} changed while a balance was read`);
    for (const each of read) remembered.set(each.block.hash, each);
    for (const oldest of remembered.keys()) {
      if (remembered.size <= REMEMBERED) break;
      remembered.delete(oldest);
    }
    return content;
  };

  return async (address, contract, height) => {
    const { head, raw } = await settledBalance(call, walk, address, contract);
    if (head.height < height) unsure(`its head ${head.height} is below block ${height}`);
    let past = raw;
    let { hash } = head;
    for (let at = head.height; at > height; at--) {
      const content = await contentOf(hash, at, height + 1);
      past -= changeOf(content, address, contract);
      hash = content.block.parentHash;
    }
    return past >= 0n ? past : unsure(`${address} would have held less than nothing at block ${height}`);
  };
}

async function settledBalance(call: TronApi, walk: Walk, address: string, contract: string | null): Promise<{ head: Header; raw: bigint }> {
  let head = await walk.headNow();
  for (let tried = 0; tried < TRIES; tried++) {
    const raw = await presentBalance(call, address, contract);
    const after = await walk.headNow();
    if (after.hash === head.hash) return { head, raw };
    head = after;
  }
  return unsure(`its head moved ${TRIES} times while the balance of ${address} was read`);
}

/** What one block added to what `address` holds of a coin or token. */
function changeOf({ transfers, sent }: BlockContent, address: string, contract: string | null): bigint {
  let change = 0n;
  for (const transfer of transfers) {
    if (transfer.contract !== contract) continue;
    if (transfer.recipient === address) change += BigInt(transfer.rawAmount);
    if (transfer.sender === address) change -= BigInt(transfer.rawAmount);
  }
  if (contract === null) for (const { sender, rawFee } of sent) if (sender === address) change -= BigInt(rawFee);
  return change;
}

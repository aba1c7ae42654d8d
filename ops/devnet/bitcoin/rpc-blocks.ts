import { WARNING } from './demo.ts';
import { blockHex, medianTime, parseBlock } from './block.ts';
import { toHex } from './bytes.ts';
import { blockArgument, hashArgument, headOf, method, type Methods } from './method.ts';
import type { BitcoinNode } from './node.ts';
import { blockJson, headerJson } from './print.ts';
import { REGTEST } from './parameters.ts';
import { Rejected, RPC, RpcError } from './refusal.ts';

function chainInfo(node: BitcoinNode): unknown {
  const head = headOf(node);
  return {
    chain: 'regtest',
    blocks: head.height,
    headers: node.chain.tip().height,
    bestblockhash: head.hash,
    bits: REGTEST.bits.toString(16),
    target: REGTEST.target,
    difficulty: REGTEST.difficulty,
    time: head.time,
    mediantime: medianTime(head),
    verificationprogress: 1,
    initialblockdownload: false,
    chainwork: head.work.toString(16).padStart(64, '0'),
    size_on_disk: (head.height + 1) * 300,
    pruned: false,
    warnings: [WARNING],
  };
}

/** Every end of a branch: no block is on top of it. */
function chainTips({ chain }: BitcoinNode): unknown {
  const parents = new Set([...chain.all()].map((block) => block.parent));
  return [...chain.all()]
    .filter((block) => !parents.has(block) || block === chain.tip())
    .sort((a, b) => b.height - a.height)
    .map((block) => {
      let fork = block;
      let invalid = false;
      for (; !chain.active(fork) && fork.parent !== null; fork = fork.parent) invalid ||= fork.invalid;
      const status = block === chain.tip() ? 'active' : invalid ? 'invalid' : 'valid-fork';
      return { height: block.height, hash: block.hash, branchlen: block.height - fork.height, status };
    });
}

/** Methods about blocks and branches. */
export const blockMethods: Methods = {
  getblockchaininfo: method([], chainInfo),
  getbestblockhash: method([], (node) => headOf(node).hash),
  getblockcount: method([], (node) => headOf(node).height),
  getblockhash: method(['height'], (node, ask) => {
    const height = ask.int('height');
    const block = height < 0 || height > headOf(node).height ? undefined : node.chain.at(height);
    if (block === undefined) throw new RpcError(RPC.invalidParameter, 'Block height out of range');
    return block.hash;
  }),
  getblockheader: method(['blockhash', 'verbose'], (node, ask) => {
    const block = blockArgument(node, hashArgument(ask, 'blockhash'));
    return ask.bool('verbose', true) ? headerJson(node, block) : toHex(block.header);
  }),
  getblock: method(['blockhash', 'verbosity|verbose'], (node, ask) => {
    const block = blockArgument(node, hashArgument(ask, 'blockhash'));
    const verbosity = ask.level('verbosity', 1);
    return verbosity <= 0 ? blockHex(block) : blockJson(node, block, verbosity);
  }),
  getchaintips: method([], chainTips),
  invalidateblock: method(['blockhash'], (node, ask) => {
    node.invalidate(blockArgument(node, hashArgument(ask, 'blockhash')));
    return null;
  }),
  reconsiderblock: method(['blockhash'], (node, ask) => {
    node.reconsider(blockArgument(node, hashArgument(ask, 'blockhash')));
    return null;
  }),
  submitblock: method(['hexdata', 'dummy'], (node, ask) => {
    const found = parseBlock(ask.text('hexdata'));
    if (found === null) throw new RpcError(RPC.deserialization, 'Block decode failed');
    try {
      node.take(found);
      return null;
    } catch (error) {
      if (error instanceof Rejected) return error.reason;
      throw error;
    }
  }),
};

import type { Block, Included } from './block.ts';
import type { Hex } from './bytes.ts';
import type { Handler, View } from './node.ts';
import { printBlock, printIncluded, printInfo, printTransaction } from './print.ts';

const MOST_BLOCKS = 100;

/** Blocks, transactions and what they did; the same on both sides but for the pool. */
export const blockHandlers: Record<string, Handler> = {
  getnowblock: (view, { visible }) => printBlock(view.block(view.height) as Block, visible),

  getblockbynum: (view, request) => {
    const block = readable(view, Number(request.int('num')));
    return block ? printBlock(block, request.visible) : {};
  },

  getblockbyid: (view, request) => {
    const block = byId(view, request.text('value'));
    return block ? printBlock(block, request.visible) : {};
  },

  getblock: (view, request) => {
    const which = request.text('id_or_num');
    const detail = request.body.detail === true || request.text('detail') === 'true';
    const block = which === '' ? view.block(view.height) : which.length === 64 ? byId(view, which) : readable(view, Number(request.int('id_or_num')));
    return block ? printBlock(block, request.visible, detail) : {};
  },

  getblockbylimitnext: (view, request) => {
    const [start, end] = [Number(request.int('startNum')), Number(request.int('endNum'))];
    if (end <= 0 || start < 0 || end <= start || end - start > MOST_BLOCKS) return {};
    return list(view, start, Math.min(end, view.height + 1), request.visible);
  },

  gettransactionbyid: (view, request) => {
    const found = find(view, request.text('value'));
    return found ? printIncluded(found.included, request.visible) : {};
  },

  gettransactioninfobyid: (view, request) => {
    const found = find(view, request.text('value'));
    if (!found || hidesInfos(view, found.block)) return {};
    return printInfo(found.block, found.included, request.visible, view.node.behaviour.saveInternalTx);
  },

  gettransactioninfobyblocknum: (view, request) => {
    const number = Number(request.int('num'));
    if (number <= 0) return {};
    const block = view.block(number);
    if (!block || hidesInfos(view, block)) return [];
    return block.included.map((each) => printInfo(block, each, request.visible, view.node.behaviour.saveInternalTx));
  },

  gettransactionlistfrompending: ({ node }) => {
    const ids = [...node.chain.state.pool.keys()];
    return ids.length > 0 ? { txId: ids } : {};
  },

  gettransactionfrompending: ({ node }, request) => {
    const waiting = node.chain.state.pool.get(request.text('value'));
    return waiting ? printTransaction(waiting, request.visible) : {};
  },
};

function list(view: View, start: number, end: number, visible: boolean): unknown {
  const blocks: unknown[] = [];
  for (let number = start; number < end; number++) {
    const block = readable(view, number);
    if (block) blocks.push(printBlock(block, visible));
  }
  return { block: blocks };
}

function readable(view: View, number: number): Block | null {
  return number > view.height - view.node.behaviour.unreadableBlocks ? null : view.block(number);
}

function byId(view: View, id: Hex): Block | null {
  const block = view.node.chain.state.blockById(id.toLowerCase());
  return block && readable(view, block.number) === block ? block : null;
}

function find(view: View, txid: Hex): { block: Block; included: Included } | null {
  const found = view.node.chain.state.find(txid.toLowerCase());
  return found && view.block(found.block.number) ? found : null;
}

function hidesInfos(view: View, block: Block): boolean {
  return block.number > view.height - view.node.behaviour.unreadableInfos;
}

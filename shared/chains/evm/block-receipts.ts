import type { Rpc } from '../rpc.ts';
import { isNotOffered } from './not-offered.ts';

/** The receipts of whole blocks, as a node tells them. */
export interface BlockReceipts {
  /** Those of one block, unread where that is possible, by its hash or height; `header` is asked for beside it. @throws ChainUnavailable */
  of(block: string, header: Promise<{ transactions: readonly string[] }>): Promise<unknown>;
  /** The endpoint failed: what it offers is found out again. */
  forget(): void;
}

/**
 * Asks for `eth_getBlockReceipts`, and where a node does not offer it for the receipt of every transaction its header names, which go as
 * one batch: they are checked like any others, only slower to come.
 */
export function openBlockReceipts(call: Rpc): BlockReceipts {
  let oneByOne = false;
  return {
    async of(block, header) {
      if (!oneByOne) {
        try {
          return await call('eth_getBlockReceipts', [block], 'unread');
        } catch (error) {
          if (!isNotOffered(error)) throw error;
          oneByOne = true;
        }
      }
      const { transactions } = await header;
      return Promise.all(transactions.map((txid) => call('eth_getTransactionReceipt', [txid])));
    },
    forget() {
      oneByOne = false;
    },
  };
}

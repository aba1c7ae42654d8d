import { fromHex, type Hex, textToHex } from './bytes.ts';
import type { Handler, TronNode } from './node.ts';
import { writeJson } from './request.ts';
import type { Json } from './print.ts';
import { Refused } from './refusal.ts';
import { fromBytes, type Transaction } from './transaction.ts';
import { fromJson, printProtobuf } from './transaction-json.ts';

/** Taking transactions; `result: true` is not inclusion (chains 3.2). */
export const broadcastHandlers: Record<string, Handler> = {
  broadcasttransaction: ({ node }, request) => broadcast(node, fromJson(request.body), request.visible),

  broadcasthex: ({ node }, request) => {
    const transaction = fromBytes(fromHex(request.text('transaction')));
    // This one answers in its own way: every key, the message as text, and the transaction as JSON inside a string.
    const { result = false, code = 'SUCCESS', message = '', txid } = broadcast(node, transaction, true);
    return { result, code, message, transaction: writeJson(printProtobuf(transaction), false), txid };
  },
};

function broadcast(node: TronNode, transaction: Transaction, visible: boolean): Json {
  const { txid } = transaction;
  if (node.behaviour.rememberRefused && node.refused.has(txid)) return refusal('DUP_TRANSACTION_ERROR', txid, 'Transaction already exists.', visible);
  try {
    node.chain.accept(transaction);
    return { result: true, txid };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code !== 'DUP_TRANSACTION_ERROR') node.refused.add(txid);
    return refusal(error.code, txid, error.message, visible);
  }
}

function refusal(code: string, txid: Hex, message: string, visible: boolean): Json {
  return { code, txid, message: visible ? message : textToHex(message) };
}

import type { Hex } from './bytes.ts';
import { ownerOf } from './execute.ts';
import { accountExists } from './ledger.ts';
import type { Handler, View } from './node.ts';
import { permissionOf } from './permission.ts';
import { type Json, printAddress, printTransaction, sparse } from './print.ts';
import { signerOf, type Transaction } from './transaction.ts';
import { fromJson } from './transaction-json.ts';

/** Who signed, who may, and whether it is enough; tronweb asks before it alters a transaction or adds a signature. */
export const permissionHandlers: Record<string, Handler> = {
  getsignweight: (view, request) => {
    const transaction = fromJson(request.body);
    const owner = ownerOf(transaction);
    if (!accountExists(view.cells(), owner)) return { result: { code: 'PERMISSION_ERROR', message: 'Account does not exist!' } };
    const permission = permissionOf(view.cells(), owner);
    const id = Number(transaction.contracts[0]?.permissionId ?? 0n);
    const keys = permission.keys.map((key) => ({ address: printAddress(key.address, request.visible), weight: key.weight }));
    const name = id === 0 ? { permission_name: 'owner' } : { type: 'Active', id, permission_name: 'active' };
    return weigh(transaction, request.visible, (signers) => {
      const weight = permission.keys.reduce((sum, key) => (signers.includes(key.address) ? sum + key.weight : sum), 0n);
      return {
        result: weight >= permission.threshold ? {} : { code: 'NOT_ENOUGH_PERMISSION' },
        permission: { ...name, threshold: permission.threshold, keys },
        ...sparse({ current_weight: weight }),
      };
    });
  },

  getapprovedlist: (_view: View, request) => weigh(fromJson(request.body), request.visible, () => ({ result: {} })),
};

function weigh(transaction: Transaction, visible: boolean, judge: (signers: Hex[]) => Json): Json {
  try {
    const signers = transaction.signatures.map((signature) => signerOf(transaction.txid, signature));
    return {
      ...judge(signers),
      ...(signers.length > 0 && { approved_list: signers.map((signer) => printAddress(signer, visible)) }),
      transaction: { result: { result: true }, txid: transaction.txid, transaction: printTransaction(transaction, visible) },
    };
  } catch (error) {
    return { result: { code: 'COMPUTE_ADDRESS_ERROR', message: error instanceof Error ? error.message : 'sig error' } };
  }
}

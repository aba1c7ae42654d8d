import { ChainUnavailable, type TransferIntent } from '../chain.ts';
import type { TronApi } from './http.ts';
import { readMessageText } from './paying-replies.ts';
import { readList, readObject, readUnits, unsure } from './replies.ts';
import { toHex21, TRANSFER_FUNCTION, transferParameter } from './transaction.ts';

/** A token transfer that was simulated: the energy it takes, penalty included, or why it fails. */
export type Simulated = { ok: true; energy: bigint } | { ok: false; rejected: string };

/** Failures of the node rather than of the call; the rest is about the call. */
const NODE_TROUBLE = /support constant|timeout|time out|timed out|busy|lack of computing|not enough/i;

/**
 * Simulates a token transfer on the node's present state.
 * @throws ChainUnavailable when the node cannot simulate or gives no figure
 */
export async function simulateTransfer(ask: TronApi, { sender, recipient, contract, rawAmount }: TransferIntent & { contract: string }): Promise<Simulated> {
  const reply = readObject(
    await ask('wallet/triggerconstantcontract', {
      owner_address: toHex21(sender),
      contract_address: toHex21(contract),
      function_selector: TRANSFER_FUNCTION,
      parameter: transferParameter(recipient, rawAmount),
      visible: false,
    }),
    'the simulation',
  );
  const result = readObject(reply.result, 'the result of the simulation');
  const message = readMessageText(result.message);
  // A call that reverted is answered with result true and a message (chains 3.2).
  if (result.result === true && message === '' && !hasFailed(reply.transaction))
    return { ok: true, energy: readUnits(reply.energy_used, 'the energy of a transfer') };
  if (NODE_TROUBLE.test(message)) throw new ChainUnavailable(`the node cannot simulate: ${message}`);
  if (result.result !== true && result.code === undefined) unsure('a transfer is neither simulated nor refused');
  return {
    ok: false,
    rejected:
      revertReason(readList(reply.constant_result, 'what a call returned')[0]) ??
      (message || (typeof result.code === 'string' ? result.code : 'the call fails')),
  };
}

/** Whether the simulated transaction itself is marked as failed. */
function hasFailed(transaction: unknown): boolean {
  if (transaction === undefined) return false;
  const [outcome] = readList(readObject(transaction, 'the simulated transaction').ret, 'its outcomes');
  return outcome !== undefined && readObject(outcome, 'its outcome').ret === 'FAILED';
}

/** The text of a Solidity `Error(string)`, if that is what a call returned. */
function revertReason(word: unknown): string | undefined {
  if (typeof word !== 'string' || !word.startsWith('08c379a0')) return undefined;
  const length = Number.parseInt(word.slice(8 + 64, 8 + 128), 16);
  const text = Buffer.from(word.slice(8 + 128, 8 + 128 + 2 * length), 'hex').toString('utf8');
  return /^[\x20-\x7e]{1,200}$/.test(text) ? text : undefined;
}

import { addressArgument, argument, encodeError, transferData } from './abi.ts';
import { type Hex, parseAddress, sha256, toHex } from './bytes.ts';
import { amount, type Cells, layer } from './cells.ts';
import { codeAt, type ScriptCode, type Step } from './contracts.ts';
import { accountExists, cell, createAccount, moveAsset, moveTrx, trxOf } from './ledger.ts';
import { callToken, type Log } from './token.ts';

/** A call a contract made, as `internal_transactions` tells it; addresses 41-prefixed. */
export interface Internal {
  hash: Hex;
  caller: Hex;
  to: Hex;
  values: { sun: bigint; tokenId: string }[];
  note: string;
  rejected: boolean;
}

export interface Call {
  /** Id of the transaction, from which ids of internal ones are made. */
  txid: Hex;
  caller: Hex;
  contract: Hex;
  data: Hex;
  callValue: bigint;
  /** A TRC-10 token sent along. */
  asset: { tokenId: string; raw: bigint } | null;
  /** Energy it may take. */
  allowance: bigint;
  timeMs: bigint;
}

export type CallResult = 'SUCCESS' | ScriptCode['outcome'];

export interface CallOutcome {
  result: CallResult;
  energy: bigint;
  /** How much of it a busy contract was charged on top. */
  penalty: bigint;
  /** What was returned, or Error(string) of a revert. */
  returns: Hex;
  /** Why it failed, text. */
  message: string;
  logs: Log[];
  internals: Internal[];
}

/** Energy of a step of a scripted contract; only its order of magnitude matters. */
const STEP_ENERGY = 9_000n;
const NEW_ACCOUNT_ENERGY = 25_000n;

/**
 * Runs a call on the virtual contracts. Whatever does not succeed leaves the cells as they were; logs are then gone and
 * internal transactions rejected, as the TVM does it.
 */
export function runCall(cells: Cells, call: Call): CallOutcome {
  const sheet = layer(cells);
  if (call.callValue > 0n) moveTrx(sheet, call.caller, call.contract, call.callValue);
  if (call.asset) moveAsset(sheet, call.caller, call.contract, call.asset.tokenId, call.asset.raw);
  const outcome = execute(sheet, call);
  if (outcome.result !== 'SUCCESS') return failed(outcome, call);
  if (outcome.energy > call.allowance) return failed({ ...outcome, result: 'OUT_OF_ENERGY' }, call);
  sheet.apply();
  return outcome;
}

function failed(outcome: CallOutcome, call: Call): CallOutcome {
  const exhausted = outcome.energy > call.allowance || outcome.result === 'OUT_OF_ENERGY' || outcome.result === 'OUT_OF_TIME';
  const result = outcome.energy > call.allowance ? 'OUT_OF_ENERGY' : outcome.result;
  const internals = outcome.internals.map((each) => ({ ...each, rejected: true }));
  if (!exhausted) return { ...outcome, logs: [], internals };
  const message =
    result === 'OUT_OF_TIME'
      ? 'CPU timeout for 0x0a executing'
      : `Not enough energy for 'SSTORE' operation executing: curInvokeEnergyLimit[${call.allowance}], curOpEnergy[20000], usedEnergy[${call.allowance}]`;
  return { result, energy: call.allowance, penalty: outcome.penalty < call.allowance ? outcome.penalty : 0n, returns: '', message, logs: [], internals };
}

function execute(cells: Cells, call: Call): CallOutcome {
  const code = codeAt(cells, call.contract);
  if (code?.kind === 'script') return runScript(cells, call, code);
  if (code?.kind !== 'token') throw new Error('No contract or not a valid smart contract');
  const outcome = callToken(cells, call.contract, code, call.caller, call.data, call.callValue);
  if (outcome.ok)
    return { result: 'SUCCESS', energy: outcome.energy, penalty: outcome.penalty, returns: outcome.returns, message: '', logs: outcome.logs, internals: [] };
  return reverted(outcome.energy, outcome.reason, []);
}

function reverted(energy: bigint, reason: string | null, internals: Internal[]): CallOutcome {
  return { result: 'REVERT', energy, penalty: 0n, returns: reason === null ? '' : encodeError(reason), message: 'REVERT opcode executed', logs: [], internals };
}

function runScript(cells: Cells, call: Call, code: ScriptCode): CallOutcome {
  const logs: Log[] = [];
  const internals: Internal[] = [];
  let energy = code.energy;
  for (const step of code.steps) {
    energy += STEP_ENERGY;
    const problem = runStep(cells, call, step, logs, internals);
    if (typeof problem === 'string') return reverted(energy, problem, internals);
    energy += problem;
  }
  if (code.outcome === 'SUCCESS') return { result: 'SUCCESS', energy, penalty: 0n, returns: code.returns, message: '', logs, internals };
  if (code.outcome === 'REVERT') return reverted(energy, code.reason === '' ? null : code.reason, internals);
  return { result: code.outcome, energy, penalty: 0n, returns: '', message: code.reason, logs, internals };
}

/** Does one step; answers the energy it took beyond the usual, or the reason why the call reverts. */
function runStep(cells: Cells, call: Call, step: Step, logs: Log[], internals: Internal[]): bigint | string {
  const at = (text: string): Hex => place(text, call);
  const note = (to: Hex, values: Internal['values'], rejected: boolean, caller = call.contract, text = 'call'): void => {
    const hash = toHex(sha256(new TextEncoder().encode(`${call.txid}/${internals.length}`)));
    internals.push({ hash, caller, to, values, note: text, rejected });
  };
  switch (step.do) {
    case 'log':
      logs.push({ address: step.address === undefined ? call.contract : at(step.address), topics: step.topics, data: step.data });
      return 0n;
    case 'internal': {
      const values = step.values.map(({ sun, tokenId }) => ({ sun: BigInt(sun ?? '0'), tokenId: tokenId ?? '' }));
      note(at(step.to), values, step.rejected ?? false, step.caller === undefined ? call.contract : at(step.caller), step.note);
      return 0n;
    }
    case 'send': {
      const to = at(step.to);
      const sun = number(step.sun, call);
      note(to, [{ sun, tokenId: '' }], step.rejected ?? false, call.contract, step.note);
      if (step.rejected) return 0n;
      if (trxOf(cells, call.contract) < sun) return 'transfer failed';
      const isNew = !accountExists(cells, to);
      createAccount(cells, to, call.timeMs);
      moveTrx(cells, call.contract, to, sun);
      return isNew ? NEW_ACCOUNT_ENERGY : 0n;
    }
    case 'sendAsset': {
      const to = at(step.to);
      const raw = number(step.raw, call);
      note(to, [{ sun: raw, tokenId: step.tokenId }], step.rejected ?? false);
      if (step.rejected) return 0n;
      if (amount(cells, cell.asset(call.contract, step.tokenId)) < raw) return 'transfer failed';
      createAccount(cells, to, call.timeMs);
      moveAsset(cells, call.contract, to, step.tokenId, raw);
      return 0n;
    }
    case 'transferToken': {
      const contract = at(step.contract);
      const code = codeAt(cells, contract);
      note(contract, [{ sun: 0n, tokenId: '' }], false);
      if (code?.kind !== 'token') return 'transfer failed';
      const outcome = callToken(cells, contract, code, call.contract, transferData(at(step.to), number(step.raw, call)), 0n);
      if (!outcome.ok) return outcome.reason ?? 'transfer failed';
      logs.push(...outcome.logs);
      return outcome.energy;
    }
  }
}

function place(text: string, call: Call): Hex {
  if (text === 'caller') return call.caller;
  if (text === 'self') return call.contract;
  if (text.startsWith('arg:')) return addressArgument(call.data, Number(text.slice(4)));
  const address = parseAddress(text);
  if (address === null) throw new Error(`a script names ${text}, which is no address`);
  return address;
}

function number(text: string, call: Call): bigint {
  if (text === 'callValue') return call.callValue;
  return text.startsWith('arg:') ? argument(call.data, Number(text.slice(4))) : BigInt(text);
}

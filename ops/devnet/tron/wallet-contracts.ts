import { selector } from './abi.ts';
import { type Hex, parseAddress, sha256, textToHex, toHex } from './bytes.ts';
import { layer } from './cells.ts';
import { type Code, codeAt } from './contracts.ts';
import { add, cell, trxOf } from './ledger.ts';
import { type CallOutcome, runCall } from './machine.ts';
import type { Handler, Request, View } from './node.ts';
import { type Json, printAddress, printInternal, printLog, printTransaction, sparse } from './print.ts';
import { isRead } from './token.ts';
import { TRC20_ABI } from './token-abi.ts';
import { build, type Transaction } from './transaction.ts';

/** Energy a simulation may take on a node that allows 100 million. */
const SIMULATION_ENERGY = 100_000_000n;
const EXPIRATION_MS = 60_000n;

/** Contracts: what they are, what a call would do, and transactions built by the node. */
export const contractHandlers: Record<string, Handler> = {
  getcontract: (view, request) => describe(view, request, 'value'),

  triggerconstantcontract: answering((view, request) => {
    if (!view.node.behaviour.supportConstant) return refusal('this node does not support constant');
    const asked = callOf(request);
    if (codeAt(view.cells(), asked.contract) === null) return refusal('Smart contract is not exist.');
    return simulate(view, asked, request.visible);
  }),

  estimateenergy: answering((view, request) => {
    if (!view.node.behaviour.estimateEnergy || !view.node.behaviour.supportConstant) return refusal('this node does not support estimate energy');
    const asked = callOf(request);
    if (codeAt(view.cells(), asked.contract) === null) return refusal('Smart contract is not exist.');
    const outcome = run(view, asked);
    if (outcome.result !== 'SUCCESS') return { result: { result: true, message: textToHex(outcome.message) } };
    return { result: { result: true }, energy_required: outcome.energy };
  }),

  triggersmartcontract: answering((view, request) => {
    const asked = callOf(request);
    const code = codeAt(view.cells(), asked.contract);
    if (code === null) return refusal('No contract or not a valid smart contract');
    if (code.kind === 'token' && isRead(asked.data)) return simulate(view, asked, request.visible);
    return { result: { result: true }, transaction: { visible: request.visible, ...printTransaction(transactionOf(view, asked), request.visible) } };
  }),

  createtransaction: (view, request) => {
    const owner = request.address('owner_address');
    const to = request.address('to_address');
    const value = request.int('amount');
    if (trxOf(view.cells(), owner) < value)
      throw new Error('class org.tron.core.exception.ContractValidateException : Validate TransferContract error, balance is not sufficient.');
    const message = { owner_address: owner, to_address: to, amount: value };
    const built = build({ contract: { name: 'TransferContract', message }, ...reference(view) });
    return { visible: request.visible, ...printTransaction(built, request.visible) };
  },
};

/** These never answer `{"Error": …}`: what goes wrong is in `result` (TriggerConstantContractServlet). */
function answering(handler: Handler): Handler {
  return (view, request) => {
    try {
      return handler(view, request);
    } catch (error) {
      return { result: { code: 'OTHER_ERROR', message: textToHex(error instanceof Error ? error.message : String(error)) } };
    }
  };
}

interface Asked {
  owner: Hex;
  contract: Hex;
  data: Hex;
  callValue: bigint;
  feeLimit: bigint;
}

function callOf(request: Request): Asked {
  const signature = request.text('function_selector');
  const data = signature === '' ? request.text('data').replace(/^0x/, '') : selector(signature) + request.text('parameter');
  return {
    owner: request.address('owner_address'),
    contract: request.address('contract_address'),
    data,
    callValue: request.int('call_value'),
    feeLimit: request.int('fee_limit'),
  };
}

function transactionOf(view: View, asked: Asked): Transaction {
  const { owner, contract, data, callValue } = asked;
  const message = { owner_address: owner, contract_address: contract, data, call_value: callValue };
  const shown = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== 0n && value !== ''));
  return build({ contract: { name: 'TriggerSmartContract', message: shown }, ...reference(view), feeLimit: asked.feeLimit });
}

function reference(view: View): { refBlockBytes: Hex; refBlockHash: Hex; expiration: bigint; timestamp: bigint } {
  const head = view.block(view.height);
  if (!head) throw new Error('no head');
  return {
    refBlockBytes: head.id.slice(12, 16),
    refBlockHash: head.id.slice(16, 32),
    expiration: head.timestamp + EXPIRATION_MS,
    timestamp: view.node.chain.now(),
  };
}

/** Runs the call on a sheet that is forgotten; the caller is lent what the call is worth, as a simulation asks for no fee. */
function run(view: View, asked: Asked): CallOutcome {
  const cells = layer(view.cells());
  const missing = asked.callValue - trxOf(cells, asked.owner);
  if (missing > 0n) add(cells, cell.trx(asked.owner), missing);
  const timeMs = view.block(view.height)?.timestamp ?? 0n;
  const { owner: caller, contract, data, callValue } = asked;
  return runCall(cells, { txid: '', caller, contract, data, callValue, asset: null, allowance: SIMULATION_ENERGY, timeMs });
}

function simulate(view: View, asked: Asked, visible: boolean): Json {
  const outcome = run(view, asked);
  const failed = outcome.result !== 'SUCCESS';
  const transaction = printTransaction(transactionOf(view, { ...asked, feeLimit: 0n }), visible);
  return {
    result: { result: true, ...(failed && { message: visible ? outcome.message : textToHex(outcome.message) }) },
    ...sparse({ energy_used: outcome.energy, energy_penalty: outcome.penalty }),
    constant_result: [outcome.returns],
    ...(outcome.logs.length > 0 && { logs: outcome.logs.map((log) => printLog(log, visible)) }),
    ...(outcome.internals.length > 0 &&
      view.node.behaviour.saveInternalTx && { internal_transactions: outcome.internals.map((each) => printInternal(each, visible)) }),
    transaction: { ret: [failed ? { ret: 'FAILED' } : {}], visible, ...transaction },
  };
}

function refusal(message: string): Json {
  return { result: { code: 'CONTRACT_VALIDATE_ERROR', message: textToHex(message) } };
}

function describe(view: View, request: Request, name: string): Json {
  const address = parseAddress(request.text(name));
  const code = address === null ? null : codeAt(view.cells(), address);
  if (address === null || code === null) return {};
  const bytecode = toHex(sha256(new TextEncoder().encode(JSON.stringify(code, (_key, value) => (typeof value === 'bigint' ? `${value}` : value)))));
  return {
    origin_address: printAddress(`41${'1'.repeat(40)}`, request.visible),
    contract_address: printAddress(address, request.visible),
    abi: abiOf(code),
    bytecode,
    name: code.name,
    ...sparse({ consume_user_resource_percent: 100n, origin_energy_limit: 10_000_000n }),
    code_hash: toHex(sha256(new TextEncoder().encode(bytecode))),
  };
}

function abiOf(code: Code): Json {
  return code.kind === 'token' ? { entrys: TRC20_ABI } : {};
}

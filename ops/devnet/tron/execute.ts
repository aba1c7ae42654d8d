import { type Hex, parseAddress, toBase58 } from './bytes.ts';
import { amount, type Cells } from './cells.ts';
import { accountExists, add, cell, createAccount, isContract, moveAsset, moveTrx, trxOf } from './ledger.ts';
import { type Call, type CallResult, type Internal, runCall } from './machine.ts';
import { parameter } from './parameters.ts';
import { invalid, Refused } from './refusal.ts';
import { bandwidthPoints, chargeBandwidth, chargeEnergy, energyAllowance } from './resources.ts';
import { delegate, stake } from './staking.ts';
import type { Log } from './token.ts';
import { bytesOf, type ContractCall, type Transaction } from './transaction.ts';

/** What a transaction did, as `gettransactioninfobyid` tells it; amounts in sun. */
export interface Effects {
  contractRet: CallResult;
  fee: bigint;
  netUsage: bigint;
  netFee: bigint;
  /** Present for calls of contracts. */
  call: { contract: Hex; energyUsage: bigint; energyFee: bigint; energyTotal: bigint; energyPenalty: bigint; returns: Hex; message: string } | null;
  logs: Log[];
  internals: Internal[];
}

/** What a contract does once bandwidth and extra fees are paid; `fee` is its own. */
type Action = (cells: Cells) => Pick<Effects, 'contractRet' | 'call' | 'logs' | 'internals'> & { fee: bigint };

const PLAIN = { contractRet: 'SUCCESS', call: null, logs: [], internals: [] } as const;

/** The account that a transaction spends from. @throws Refused when there is not exactly one contract this node knows */
export function ownerOf(transaction: Transaction): Hex {
  const owner = onlyContract(transaction).message.owner_address;
  const address = typeof owner === 'string' ? parseAddress(owner) : null;
  if (address === null) throw invalid('Invalid ownerAddress!');
  return address;
}

/**
 * Runs a transaction whose signature and reference are already checked, in a node's order: bandwidth, extra fees, contract.
 * @throws Refused when it can be in no block; a contract that fails is not refused but included and paid for
 */
export function execute(cells: Cells, transaction: Transaction, timeMs: bigint): Effects {
  const contract = onlyContract(transaction);
  const owner = ownerOf(transaction);
  if (!accountExists(cells, owner)) throw invalid(`account [${toBase58(owner)}] does not exist`);
  const points = bandwidthPoints(bytesOf(transaction).length);
  const bill = chargeBandwidth(cells, owner, points, createsAccount(cells, contract), timeMs);
  if (bill === null) throw new Refused('BANDWITH_ERROR', 'Account resource insufficient error.');
  const extra = extraFees(cells, transaction);
  if (trxOf(cells, owner) < extra) throw new Refused('BANDWITH_ERROR', 'Account resource insufficient error.');
  add(cells, cell.trx(owner), -extra);
  const done = action(contract, transaction, owner, timeMs)(cells);
  return { ...done, fee: bill.fee + extra + done.fee, netUsage: bill.usage, netFee: bill.fee };
}

function onlyContract(transaction: Transaction): ContractCall & { name: string } {
  const [contract] = transaction.contracts;
  if (!contract || transaction.contracts.length !== 1) throw new Refused('OTHER_ERROR', 'Other error: act size should be exactly 1, this is extend feature');
  const { name } = contract;
  if (name === null) throw invalid('Contract type error, this local node does not know it');
  return { ...contract, name };
}

function createsAccount(cells: Cells, { name, message }: ContractCall): boolean {
  if (name === 'AccountCreateContract') return true;
  return (name === 'TransferContract' || name === 'TransferAssetContract') && !accountExists(cells, String(message.to_address ?? ''));
}

function extraFees(cells: Cells, transaction: Transaction): bigint {
  const memo = transaction.data === '' ? 0n : parameter(cells, 'getMemoFee');
  return memo + (transaction.signatures.length > 1 ? parameter(cells, 'getMultiSignFee') : 0n);
}

function action({ name, message }: ContractCall, transaction: Transaction, owner: Hex, timeMs: bigint): Action {
  const int = (field: string): bigint => (typeof message[field] === 'bigint' ? message[field] : 0n);
  const text = (field: string): string => String(message[field] ?? '');
  switch (name) {
    case 'TransferContract':
      return (cells) => transfer(cells, owner, text('to_address'), int('amount'), timeMs);
    case 'TransferAssetContract':
      return (cells) => transferAsset(cells, owner, text('to_address'), Buffer.from(text('asset_name'), 'hex').toString('utf8'), int('amount'), timeMs);
    case 'AccountCreateContract':
      return (cells) => openAccount(cells, owner, text('account_address'), timeMs);
    case 'FreezeBalanceV2Contract':
      return (cells) => {
        stake(cells, owner, int('frozen_balance'), text('resource'));
        return { ...PLAIN, logs: [], internals: [], fee: 0n };
      };
    case 'DelegateResourceContract':
      return (cells) => {
        delegate(cells, owner, text('receiver_address'), int('balance'), text('resource'));
        return { ...PLAIN, logs: [], internals: [], fee: 0n };
      };
    case 'TriggerSmartContract':
      return (cells) =>
        trigger(
          cells,
          transaction,
          owner,
          { contract: text('contract_address'), callValue: int('call_value'), data: text('data'), asset: assetOf(int('token_id'), int('call_token_value')) },
          timeMs,
        );
    default:
      throw invalid(`this local node does not execute ${name}`);
  }
}

function recipient(cells: Cells, owner: Hex, text: string, what: string): Hex {
  const to = parseAddress(text);
  if (to === null) throw invalid('Invalid toAddress!');
  if (to === owner) throw invalid(what === 'TRX' ? 'Cannot transfer TRX to yourself.' : 'Cannot transfer asset to yourself.');
  if (isContract(cells, to)) throw invalid(`Cannot transfer ${what === 'TRX' ? 'TRX' : 'asset'} to smartContract.`);
  return to;
}

function transfer(cells: Cells, owner: Hex, text: string, sun: bigint, timeMs: bigint): ReturnType<Action> {
  const to = recipient(cells, owner, text, 'TRX');
  if (sun <= 0n) throw invalid('Amount must be greater than 0.');
  const fee = accountExists(cells, to) ? 0n : parameter(cells, 'getCreateNewAccountFeeInSystemContract');
  if (trxOf(cells, owner) < sun + fee) throw invalid('Validate TransferContract error, balance is not sufficient.');
  createAccount(cells, to, timeMs);
  add(cells, cell.trx(owner), -fee);
  moveTrx(cells, owner, to, sun);
  return { ...PLAIN, logs: [], internals: [], fee };
}

function transferAsset(cells: Cells, owner: Hex, text: string, tokenId: string, raw: bigint, timeMs: bigint): ReturnType<Action> {
  const to = recipient(cells, owner, text, 'asset');
  if (raw <= 0n) throw invalid('Amount must be greater than 0.');
  if (amount(cells, cell.asset(owner, tokenId)) < raw) throw invalid('assetBalance is not sufficient.');
  const fee = accountExists(cells, to) ? 0n : parameter(cells, 'getCreateNewAccountFeeInSystemContract');
  if (trxOf(cells, owner) < fee) throw invalid('Validate TransferAssetActuator error, insufficient fee.');
  createAccount(cells, to, timeMs);
  add(cells, cell.trx(owner), -fee);
  moveAsset(cells, owner, to, tokenId, raw);
  return { ...PLAIN, logs: [], internals: [], fee };
}

function openAccount(cells: Cells, owner: Hex, text: string, timeMs: bigint): ReturnType<Action> {
  const address = parseAddress(text);
  if (address === null) throw invalid('Invalid account address!');
  if (accountExists(cells, address)) throw invalid('Account has existed');
  const fee = parameter(cells, 'getCreateNewAccountFeeInSystemContract');
  if (trxOf(cells, owner) < fee) throw invalid('Validate CreateAccountActuator error, insufficient fee.');
  createAccount(cells, address, timeMs);
  add(cells, cell.trx(owner), -fee);
  return { ...PLAIN, logs: [], internals: [], fee };
}

function assetOf(tokenId: bigint, raw: bigint): Call['asset'] {
  return raw > 0n ? { tokenId: `${tokenId}`, raw } : null;
}

function trigger(
  cells: Cells,
  transaction: Transaction,
  owner: Hex,
  call: Pick<Call, 'contract' | 'callValue' | 'data' | 'asset'>,
  timeMs: bigint,
): ReturnType<Action> {
  const most = parameter(cells, 'getMaxFeeLimit');
  if (transaction.feeLimit < 0n || transaction.feeLimit > most) throw invalid(`feeLimit must be >= 0 and <= ${most}`);
  if (!isContract(cells, call.contract)) throw invalid('No contract or not a valid smart contract');
  if (trxOf(cells, owner) < call.callValue) throw invalid('Validate InternalTransfer error, balance is not sufficient.');
  if (call.asset && amount(cells, cell.asset(owner, call.asset.tokenId)) < call.asset.raw) throw invalid('assetBalance is not sufficient.');
  const allowance = energyAllowance(cells, owner, transaction.feeLimit, call.callValue, timeMs);
  const outcome = runCall(cells, { txid: transaction.txid, caller: owner, ...call, allowance, timeMs });
  const bill = chargeEnergy(cells, owner, outcome.energy, timeMs);
  return {
    contractRet: outcome.result,
    fee: bill.fee,
    call: {
      contract: call.contract,
      energyUsage: bill.usage,
      energyFee: bill.fee,
      energyTotal: outcome.energy,
      energyPenalty: outcome.penalty,
      returns: outcome.returns,
      message: outcome.result === 'SUCCESS' ? '' : outcome.message,
    },
    logs: outcome.logs,
    internals: outcome.internals,
  };
}

/** One call a contract makes. */
export interface ContractCall {
  to: string;
  value?: bigint;
  /** 0x-prefixed; nothing for a plain payment. */
  data?: string;
}

const PUSH2 = '61';
const PUSH20 = '73';
const PUSH32 = '7f';
const GAS = '5a';
const CALL = 'f1';
const ISZERO = '15';
const JUMPI = '57';
const JUMPDEST = '5b';
const CODECOPY = '39';
const STOP = '00';
const REVERT = '60006000fd';

const word = (value: bigint): string => PUSH32 + value.toString(16).padStart(64, '0');
const short = (value: number): string => PUSH2 + value.toString(16).padStart(4, '0');

/**
 * Creation code of a contract that makes these calls while it is created, and fails when one of them does: what a payout
 * contract of an exchange does, without a compiler. Its address is the creator's next one, so that it can be given
 * allowances beforehand.
 */
export function makingCalls(calls: readonly ContractCall[]): string {
  // Every step has the same length whatever its addresses are, so that the data's place behind the code is known.
  const step = (call: ContractCall, dataAt: number, failAt: number): string => {
    const bytes = (call.data ?? '0x').slice(2).length / 2;
    return (
      short(bytes) +
      short(dataAt) +
      short(0) +
      CODECOPY +
      short(0) +
      short(0) +
      short(bytes) +
      short(0) +
      word(call.value ?? 0n) +
      PUSH20 +
      call.to.slice(2).padStart(40, '0') +
      GAS +
      CALL +
      ISZERO +
      short(failAt) +
      JUMPI
    );
  };
  const code = (dataFrom: number, failAt: number): string => {
    let dataAt = dataFrom;
    const steps = calls.map((call) => {
      const at = dataAt;
      dataAt += (call.data ?? '0x').slice(2).length / 2;
      return step(call, at, failAt);
    });
    return `${steps.join('')}${STOP}${JUMPDEST}${REVERT}`;
  };
  const length = code(0, 0).length / 2;
  const failAt = length - (JUMPDEST + REVERT).length / 2;
  return `0x${code(length, failAt)}${calls.map((call) => (call.data ?? '0x').slice(2)).join('')}`;
}

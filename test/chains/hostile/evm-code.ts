/** A log that a contract is to emit; words and data as hex without 0x. */
export interface WantedLog {
  topics: readonly string[];
  data: string;
}

/** A call that a contract is to make; whether it succeeds does not matter to the contract. */
export interface WantedCall {
  kind?: 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL';
  to: string;
  value?: bigint;
  /** 0x-prefixed. */
  data?: string;
}

const OPCODES = { CALL: 'f1', CALLCODE: 'f2', DELEGATECALL: 'f4', STATICCALL: 'fa' };
const GAS = '5a';
const POP = '50';
const MSTORE = '52';
const WORD_DIGITS = 64;

const push = (hex: string): string => `7f${hex.padStart(WORD_DIGITS, '0')}`;
const number = (value: number): string => push(value.toString(16));
const address = (text: string): string => push(text.slice(2));

/** Puts bytes at the beginning of memory. */
function remember(hex: string): string {
  const words = hex.match(/.{1,64}/g) ?? [];
  return words.map((word, i) => `${push(word.padEnd(WORD_DIGITS, '0'))}${number(i * 32)}${MSTORE}`).join('');
}

/** Runtime code, as hex without 0x, that emits one log. */
export function emit({ topics, data }: WantedLog): string {
  const words = [...topics].reverse().map(push).join('');
  return `${remember(data)}${words}${number(data.length / 2)}${number(0)}${(0xa0 + topics.length).toString(16)}`;
}

/** Runtime code that makes one call. */
export function makeCall({ kind = 'CALL', to, value = 0n, data = '0x' }: WantedCall): string {
  const bytes = data.slice(2);
  const carried = kind === 'CALL' || kind === 'CALLCODE' ? push(value.toString(16)) : '';
  return `${remember(bytes)}${number(0)}${number(0)}${number(bytes.length / 2)}${number(0)}${carried}${address(to)}${GAS}${OPCODES[kind]}${POP}`;
}

/** Runtime code that ends the contract in favour of somebody; of the contract itself when nobody is named. */
export const die = (heir?: string): string => `${heir === undefined ? '30' : address(heir)}ff`;
export const FAIL = '5f5ffd';
/** Runs until no gas is left. */
export const SPIN = '5b5f56';
/** Does nothing, and takes whatever comes. */
export const IDLE = '00';

/** Creation code that runs `code` and then leaves no code behind. */
export const asCreation = (code: string): string => `0x${code}5f5ff3`;

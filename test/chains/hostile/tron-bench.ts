import { transferData } from '#ops/devnet/tron/abi.ts';
import type { ScriptAsk } from '#ops/devnet/tron/control-api.ts';
import { type TronControl, tronControl } from '#ops/devnet/tron/control.ts';
import { TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import type { Step } from '#ops/devnet/tron/contracts.ts';
import { broadcast, callLocally, referenceNow } from '#ops/devnet/tron/send.ts';
import { addressOfKey, build, type BuiltContract, type RawFields, sign } from '#ops/devnet/tron/transaction.ts';
import { toHex20 } from '#shared/chains/tron/address.ts';
import type { TronChain } from '#test/harness/tron-chain.ts';

export const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** A TRC-10 token, by the number it was issued under. */
export const ASSET = '1002000';
export const FAUCET_HEX = addressOfKey(TRON_FAUCET.privateKey);
/** Nobody, as 41-prefixed hex. */
export const NOBODY = `41${'66'.repeat(20)}`;

export const word = (value: bigint): string => value.toString(16).padStart(64, '0');
export const hexOf = (address: string): string => `41${toHex20(address)}`;
export const addressWord = (hex41: string): string => hex41.slice(2).padStart(64, '0');
export const textHex = (text: string): string => Buffer.from(text).toString('hex');

/** Everything the rows of a TRON chain are made with; each step is mined at once. */
export interface TronBench {
  chain: TronChain;
  control: TronControl;
  /** USDT, as 41-prefixed hex. */
  usdt: string;
  /** One call of a contract that takes these steps; answers its id, whatever became of it. */
  run(steps: Step[], options?: Omit<ScriptAsk, 'steps'> & { callValue?: bigint; data?: string }): Promise<string>;
  call(call: Parameters<typeof callLocally>[1]): Promise<string>;
  /** A transaction of the faucet with whatever a sender may write into it, signed by these keys. */
  send(contract: BuiltContract, more?: Partial<RawFields>, keys?: readonly string[]): Promise<string>;
  pay(to: string, sun: bigint, more?: Partial<RawFields>): Promise<string>;
}

/** Opens the bench of a chain that mines only when it is told to. */
export async function tronBench(chain: TronChain): Promise<TronBench> {
  const { url } = chain;
  const control = tronControl(url);
  // More than a double holds exactly.
  await control.fund(TRON_FAUCET.address, 2n ** 62n);
  await control.fundAsset(TRON_FAUCET.address, ASSET, 10n ** 12n);
  const mined = async (txid: string): Promise<string> => {
    await control.mine();
    return txid;
  };
  const call: TronBench['call'] = async (wanted) => mined(await callLocally(url, wanted));
  const send: TronBench['send'] = async (contract, more = {}, keys = [TRON_FAUCET.privateKey]) => {
    const transaction = build({ contract, ...(await referenceNow(url)), ...more });
    return mined(await broadcast(url, keys.reduce(sign, transaction)));
  };
  return {
    chain,
    control,
    usdt: hexOf(chain.tokens.USDT),
    async run(steps, { callValue = 0n, data = '', ...script } = {}) {
      return call({ contract: await control.script({ steps, ...script }), callValue, data });
    },
    call,
    send,
    pay: (to, sun, more) => send({ name: 'TransferContract', message: { owner_address: FAUCET_HEX, to_address: hexOf(to), amount: sun } }, more),
  };
}

/** The log that is credited when a configured token emits it. */
export const transferLog = (to: string, raw: bigint): { topics: string[]; data: string } => ({
  topics: [TRANSFER, addressWord(NOBODY), addressWord(hexOf(to))],
  data: word(raw),
});

export const transferCall = (to: string, raw: bigint): string => transferData(hexOf(to), raw);

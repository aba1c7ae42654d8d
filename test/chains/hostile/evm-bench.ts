import { getContractAddress, keccak256, toFunctionSelector } from 'viem';
import contracts from '#ops/dev/contracts/tokens.json' with { type: 'json' };
import type { ContractName } from '#ops/dev/local-evm.ts';
import { callData, hex } from '#ops/dev/services/evm-node.ts';
import type { TestChain } from '#test/harness/chain.ts';

export const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Where `Ledger` of ops/dev/contracts keeps its balances. */
const BALANCES_SLOT = 3n;

export const word = (value: bigint): string => value.toString(16).padStart(64, '0');
export const addressWord = (address: string): string => address.slice(2).padStart(64, '0');
/** Calldata of a Solidity function. */
export const calling = (signature: string, ...words: (string | bigint)[]): string => callData(toFunctionSelector(`function ${signature}`).slice(2), ...words);

/** Everything the rows of an EVM chain are made with; each step is mined at once. */
export interface EvmBench {
  chain: TestChain;
  /** Deploys a compiled contract. */
  deploy(name: ContractName, constructorWords?: string): Promise<string>;
  /** Code at an address nobody had before; hex without 0x. */
  place(code: string): Promise<string>;
  /** One transaction in a block of its own; answers its id, whatever became of it. */
  send(transaction: { to?: string; data?: string; value?: bigint; gas?: bigint; from?: string }): Promise<string>;
  /** The same with fields as the node takes them. */
  sendRaw(fields: Record<string, unknown>): Promise<string>;
  /** One transaction to `address` while it has other code; answers its id. */
  with(address: string, code: string, transaction?: { value?: bigint; data?: string; gas?: bigint; to?: string }): Promise<string>;
  /** Lets `address` hold more of a token than any event tells of, so that what a row makes up is really there. */
  back(token: string, address: string, raw: bigint): Promise<void>;
  /** Does something that changes what `address` holds without any transaction telling of it, and then takes it away again. */
  unseen(address: string, happens: () => Promise<void>): Promise<void>;
}

/** Opens the bench of a chain that mines only when it is told to. */
export function evmBench(chain: TestChain): EvmBench {
  const { node, faucet } = chain;
  let placed = 0;
  const sendRaw: EvmBench['sendRaw'] = async (fields) => {
    const txid = await node.call<string>('eth_sendTransaction', [{ from: faucet, gas: hex(2_000_000n), ...fields }]);
    await node.mine();
    return txid;
  };
  const send: EvmBench['send'] = ({ to, data, value = 0n, gas = 2_000_000n, from = faucet }) =>
    sendRaw({ from, gas: hex(gas), value: hex(value), ...(to === undefined ? {} : { to }), ...(data === undefined ? {} : { data }) });
  const balanceSlot = (address: string): string => keccak256(`0x${addressWord(address)}${word(BALANCES_SLOT)}`);
  return {
    chain,
    async deploy(name, constructorWords = '') {
      const nonce = BigInt(await node.call<string>('eth_getTransactionCount', [faucet, 'latest']));
      await send({ data: contracts[name].bytecode + constructorWords, gas: 5_000_000n });
      return getContractAddress({ from: faucet as `0x${string}`, nonce }).toLowerCase();
    },
    async place(code) {
      placed += 1;
      const address = `0xc0de${placed.toString(16).padStart(36, '0')}`;
      await node.call('anvil_setCode', [address, `0x${code}`]);
      return address;
    },
    send,
    sendRaw,
    async with(address, code, transaction = {}) {
      const before = await node.call<string>('eth_getCode', [address, 'latest']);
      await node.call('anvil_setCode', [address, `0x${code}`]);
      const txid = await send({ to: address, ...transaction });
      await node.call('anvil_setCode', [address, before]);
      return txid;
    },
    async back(token, address, raw) {
      const slot = balanceSlot(address);
      const held = BigInt(await node.call<string>('eth_getStorageAt', [token, slot, 'latest']));
      await node.call('anvil_setStorageAt', [token, slot, `0x${word(held + raw)}`]);
      await node.mine();
    },
    async unseen(address, happens) {
      const before = await chain.balance(address);
      await happens();
      if ((await chain.balance(address)) === before) throw new Error(`nothing happened to ${address}`);
      await node.call('anvil_setBalance', [address, hex(before)]);
      await node.mine();
    },
  };
}

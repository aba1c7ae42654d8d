import { access, readFile, writeFile } from 'node:fs/promises';
import contracts from './contracts/tokens.json' with { type: 'json' };
import { evmPages } from './explorer/evm.ts';
import { type LocalChain, type LocalFamily, MINED_WITHIN_MS } from './local-chain.ts';
import { startAnvil } from './services/anvil.ts';
import { orStop } from './services/child.ts';
import { callData, type EvmNode, evmNode, hex, type Receipt, transferData } from './services/evm-node.ts';
import { unlessAborted, waitFor } from './services/wait.ts';

/** Account 0 of every anvil: rich, unlocked, and its key known to the world. */
export const FAUCET = {
  address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
};
/** Account 9, used for nothing but deployments, so that the tokens have the same addresses on every new chain. */
const DEPLOYER = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720';

const MINT = '40c10f19';
const BALANCE_OF = '70a08231';

export type ContractName = keyof typeof contracts;

/** Deploys a compiled contract from an unlocked account and returns its address, lower case. */
export async function deploy(node: EvmNode, contract: ContractName, constructorWords = '', from = FAUCET.address): Promise<string> {
  const txid = await node.send({ from, data: contracts[contract].bytecode + constructorWords, gas: 3_000_000n });
  const receipt = await mined(node, txid);
  return (receipt.contractAddress as string).toLowerCase();
}

/** Deploys a token; `SilentToken` returns nothing from transfer, as the real USDT does. */
export async function deployToken(
  node: EvmNode,
  contract: 'TestToken' | 'SilentToken' | 'FreezableToken',
  name: string,
  symbol: string,
  decimals: number,
  from?: string,
): Promise<string> {
  const text = (value: string): string => {
    const bytes = Buffer.from(value, 'utf8').toString('hex');
    return (bytes.length / 2).toString(16).padStart(64, '0') + bytes.padEnd(64, '0');
  };
  const words = [0x60n, 0xa0n, BigInt(decimals)].map((word) => word.toString(16).padStart(64, '0')).join('');
  return deploy(node, contract, words + text(name) + text(symbol), from);
}

export interface LocalTokens {
  /** By symbol, lower-case addresses. */
  contracts: Record<string, string>;
}

/** Puts USDT and USDC on a new chain, at the addresses `networks.json` names; finds them there on one that has them. */
export async function deployDemoTokens(node: EvmNode): Promise<LocalTokens> {
  const used = Number(await node.call<string>('eth_getTransactionCount', [DEPLOYER, 'latest']));
  const found: Record<string, string> = {};
  const tokens = [
    { symbol: 'USDT', name: 'Tether USD', contract: 'SilentToken' },
    { symbol: 'USDC', name: 'USD Coin', contract: 'TestToken' },
  ] as const;
  for (const [nonce, token] of tokens.entries()) {
    found[token.symbol] = DEMO_TOKENS[token.symbol];
    if (nonce < used) continue;
    const address = await deployToken(node, token.contract, token.name, token.symbol, 6, DEPLOYER);
    if (address !== DEMO_TOKENS[token.symbol]) throw new Error(`${token.symbol} was deployed at ${address}, not where networks.json says`);
  }
  return { contracts: found };
}

/** Where account 9 puts them with its first two transactions. */
export const DEMO_TOKENS = { USDT: '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35', USDC: '0xa15bb66138824a1c7167f5e85b957d04dd34e468' };

/** Makes sure the faucet can pay with every token; anvil itself makes it rich in native coin. */
export async function fillFaucet(node: EvmNode, tokens: LocalTokens): Promise<void> {
  for (const token of Object.values(tokens.contracts)) {
    if ((await tokenBalance(node, token, FAUCET.address)) >= 1_000_000n * 10n ** 6n) continue;
    await mined(node, await node.send({ from: FAUCET.address, to: token, data: callData(MINT, FAUCET.address, 100_000_000n * 10n ** 6n), gas: 200_000n }));
  }
}

/** Pays from the faucet: native coin when `contract` is null. Returns the transaction id; mining it is up to the chain. */
export async function pay(node: EvmNode, to: string, contract: string | null, rawAmount: bigint, from = FAUCET.address): Promise<string> {
  return contract === null ? node.send({ from, to, value: rawAmount }) : node.send({ from, to: contract, data: transferData(to, rawAmount), gas: 200_000n });
}

/** Token units an address holds at the head. */
export async function tokenBalance(node: EvmNode, token: string, address: string): Promise<bigint> {
  return BigInt(await node.call<string>('eth_call', [{ to: token, data: callData(BALANCE_OF, address) }, 'latest']));
}

/** Mints any amount of a test token to anybody. */
export async function mint(node: EvmNode, token: string, to: string, rawAmount: bigint): Promise<string> {
  return node.send({ from: FAUCET.address, to: token, data: callData(MINT, to, rawAmount), gas: 200_000n });
}

/** Waits for a transaction to be in a block. @throws when it failed there */
export async function mined(node: EvmNode, txid: string): Promise<Receipt> {
  const receipt = await waitFor(() => node.receipt(txid), { what: `transaction ${txid} to be mined`, timeoutMs: MINED_WITHIN_MS });
  if (receipt.status !== '0x1') throw new Error(`transaction ${txid} failed on chain`);
  return receipt;
}

/** The chain behind an EVM development node. */
function evmChain(node: EvmNode): LocalChain {
  return {
    pay: (recipient, contract, rawAmount) => pay(node, recipient, contract, rawAmount),
    async mined(txid) {
      await mined(node, txid);
    },
    balance: async (address, contract) =>
      contract === null ? BigInt(await node.call<string>('eth_getBalance', [address, 'latest'])) : tokenBalance(node, contract, address),
    async blockHash(height) {
      const block = await node.call<{ hash: string } | null>('eth_getBlockByNumber', [hex(BigInt(height)), false]);
      return block?.hash.toLowerCase();
    },
    identity: async () => `chain ${Number(await node.call<string>('eth_chainId', []))}`,
  };
}

/** EVM chains on this machine: anvil. */
export const evmFamily: LocalFamily = {
  faucetPrivateKey: FAUCET.privateKey,
  // Account 1 of every anvil.
  outsider: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  walletCoins: 1_000n,
  open: (url) => evmChain(evmNode(url)),
  pages: (network, url) => evmPages(network, evmNode(url)),
  async start({ network, port, keptAt, ...options }) {
    const stateFile = `${keptAt}.json`;
    const genesisTime = await genesisTimeOf(stateFile);
    const anvil = await startAnvil({ port, chainId: Number(network.chainId), stateFile, genesisTime, ...options });
    const { node, service, url } = anvil;
    await orStop(service, () => unlessAborted(options.signal, async () => fillFaucet(node, await deployDemoTokens(node))));
    return {
      ...evmChain(node),
      url,
      service,
      async startMining({ blockSeconds, serviceNow }) {
        const latest = await node.call<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
        const now = Math.floor(serviceNow.getTime() / 1000);
        // A chain that was asleep, or a service clock that was advanced in an earlier run: block times must not fall behind.
        if (now > Number(latest.timestamp)) await node.call('evm_setTime', [now]);
        await node.call('evm_setAutomine', [false]);
        await node.call('evm_setIntervalMining', [blockSeconds]);
      },
      stop: () => anvil.stop(),
    };
  },
};

/** When the chain in `stateFile` began; kept beside it, and new when the chain is. */
async function genesisTimeOf(stateFile: string): Promise<number> {
  const path = `${stateFile}.began`;
  const isThere = await access(stateFile).then(
    () => true,
    () => false,
  );
  const kept = isThere ? await readFile(path, 'utf8').catch(() => undefined) : undefined;
  if (kept !== undefined) return Number(kept);
  const now = Math.floor(Date.now() / 1000);
  await writeFile(path, String(now));
  return now;
}

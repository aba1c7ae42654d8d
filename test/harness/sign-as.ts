import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { type Hex, keccak256, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { EvmNode } from '#ops/dev/services/evm-node.ts';
import demo from '#ops/dev/networks.json' with { type: 'json' };
import { TEST_SEED } from './world.ts';

// A node that pretends that somebody signed tells a transaction whose signature is nobody's, which no reader believes: thieves sign here.

/** Deposit addresses whose keys are known, from the first on. */
const DEPOSITS = 200;

type Account = ReturnType<typeof privateKeyToAccount>;

/** Somebody with a key of their own, the same in every run. */
export function stranger(name: string): Account {
  return privateKeyToAccount(keccak256(toHex(name)));
}

let known: Map<string, Account> | undefined;

/** Whoever signs for one of the deployment's own addresses, wallet or deposit address. @throws Error when it is none of them */
export function ownerOf(address: string): Account {
  known ??= ownAccounts();
  const account = known.get(address.toLowerCase());
  if (account === undefined) throw new Error(`nobody here has the key of ${address}`);
  return account;
}

function ownAccounts(): Map<string, Account> {
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(TEST_SEED));
  const [network] = demo.networks;
  const wallets = Object.values(network?.wallets ?? {}).map(({ path }) => root.derive(path));
  const account = root.derive(network?.accountPath ?? 'm');
  const deposits = Array.from({ length: DEPOSITS }, (_, index) => account.deriveChild(0).deriveChild(index));
  const accounts = [...wallets, ...deposits].map((key) => privateKeyToAccount(toHex(key.privateKey as Uint8Array)));
  return new Map(accounts.map((one) => [one.address.toLowerCase(), one]));
}

interface Unsigned {
  to: string;
  value?: bigint;
  data?: string;
}

/** The bytes of a transaction by `account`, with the next nonce it has. */
export async function signedBy(node: EvmNode, account: Account, { to, value = 0n, data = '0x' }: Unsigned): Promise<Hex> {
  const nonce = Number(await node.call<string>('eth_getTransactionCount', [account.address, 'pending']));
  const chainId = Number(await node.call<string>('eth_chainId', []));
  const gasPrice = 2n * BigInt(await node.call<string>('eth_gasPrice', []));
  return account.signTransaction({ type: 'legacy', chainId, nonce, gasPrice, gas: 200_000n, to: to as Hex, value, data: data as Hex });
}

/** Sends it; answers its id. */
export async function sendAs(node: EvmNode, account: Account, transaction: Unsigned): Promise<string> {
  return node.call<string>('eth_sendRawTransaction', [await signedBy(node, account, transaction)]);
}

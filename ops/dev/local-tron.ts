import { join } from 'node:path';
import { toHex20 } from '#shared/chains/tron/address.ts';
import { tronControl } from '#ops/devnet/tron/control.ts';
import { TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { tronPages } from './explorer/tron.ts';
import { type LocalChain, type LocalFamily, MINED_WITHIN_MS } from './local-chain.ts';
import { plainEnvironment, startService, untilUp } from './services/child.ts';
import { decodeText, heightOf, type TronBlock, type TronNode, tronNode } from './services/tron-node.ts';
import { waitFor } from './services/wait.ts';

/** The most a faucet transfer may burn for energy, sun. */
const FEE_LIMIT = 100_000_000;
/** Where demo cashouts go: an address of no key. */
const TRON_OUTSIDER = 'T9yD14Nj9j7xAB4dbGeiX9h8vHWUW8QiRG';
/** How long the faucet's bytes stay good: blocks may come quickly. */
const EXPIRES_AFTER_MS = 3_600_000;

let lastTimestamp = 0;

/** Two transfers of one amount to one address are one transaction unless something in them differs: the time they name. */
function uniqueTimestamp(): number {
  lastTimestamp = Math.max(Date.now(), lastTimestamp + 1);
  return lastTimestamp;
}

interface BroadcastReply {
  result?: boolean;
  code?: string;
  message?: string;
}

/** Builds a transfer with tronweb on top of the head, signs it, and hands it to the node. Returns its id. */
export async function payTron(node: TronNode, privateKey: string, recipient: string, contract: string | null, rawAmount: bigint): Promise<string> {
  // Loading it takes a good part of a second: only who pays waits for it.
  const { TronWeb } = await import('tronweb');
  const tronWeb = new TronWeb({ fullHost: node.url });
  const sender = TronWeb.address.fromPrivateKey(privateKey);
  if (sender === false) throw new Error('the faucet key is not one');
  const options = { txLocal: true, blockHeader: headerOn(await node.head()) };
  const parameters = [
    { type: 'address', value: recipient },
    { type: 'uint256', value: rawAmount.toString() },
  ];
  const unsigned =
    contract === null
      ? await tronWeb.transactionBuilder.sendTrx(recipient, exactNumber(rawAmount), sender, options)
      : (
          await tronWeb.transactionBuilder.triggerSmartContract(
            contract,
            'transfer(address,uint256)',
            { ...options, feeLimit: FEE_LIMIT, callValue: 0 },
            parameters,
            sender,
          )
        ).transaction;
  const signed = await tronWeb.trx.sign(unsigned, privateKey);
  const answer = await node.call<BroadcastReply>('wallet/broadcasttransaction', { ...signed });
  if (answer.result !== true) throw new Error(`the node refuses the transfer: ${answer.code ?? ''} ${decodeText(answer.message ?? '')}`);
  return signed.txID;
}

function headerOn(head: TronBlock) {
  const number = heightOf(head);
  return {
    ref_block_bytes: (number % 65_536).toString(16).padStart(4, '0'),
    ref_block_hash: head.blockID.slice(16, 32),
    expiration: (head.block_header.raw_data.timestamp ?? 0) + EXPIRES_AFTER_MS,
    timestamp: uniqueTimestamp(),
  };
}

function exactNumber(sun: bigint): number {
  if (sun > Number.MAX_SAFE_INTEGER) throw new Error('more TRX than tronweb can write');
  return Number(sun);
}

/** Whether a transaction is in a block, and whether it did there what it meant to. */
export async function outcomeOf(node: TronNode, txid: string): Promise<'waiting' | 'succeeded' | 'failed'> {
  const [info, transaction] = await Promise.all([
    node.call<{ id?: string; result?: string }>('wallet/gettransactioninfobyid', { value: txid }),
    node.call<{ ret?: { contractRet?: string }[] }>('wallet/gettransactionbyid', { value: txid }),
  ]);
  if (info.id === undefined) return 'waiting';
  const result = transaction.ret?.[0]?.contractRet;
  return info.result === undefined && (result === undefined || result === 'SUCCESS') ? 'succeeded' : 'failed';
}

/** An address as the node takes it. */
function hex21(address: string): string {
  return `41${toHex20(address)}`;
}

/** Token units an address holds at the head. */
export async function tronTokenBalance(node: TronNode, contract: string, address: string): Promise<bigint> {
  const answer = await node.call<{ constant_result?: string[]; result?: { message?: string } }>('wallet/triggerconstantcontract', {
    owner_address: hex21(address),
    contract_address: hex21(contract),
    function_selector: 'balanceOf(address)',
    parameter: toHex20(address).padStart(64, '0'),
  });
  const [word] = answer.constant_result ?? [];
  if (word === undefined || word === '') throw new Error(`${contract} tells no balance: ${decodeText(answer.result?.message ?? '')}`);
  return BigInt(`0x${word}`);
}

/** The chain behind a TRON node, paid from with `faucetKey`. */
export function tronChain(node: TronNode, faucetKey: string): LocalChain {
  return {
    pay: (recipient, contract, rawAmount) => payTron(node, faucetKey, recipient, contract, rawAmount),
    async mined(txid) {
      const outcome = await waitFor(
        async () => {
          const seen = await outcomeOf(node, txid);
          return seen !== 'waiting' && seen;
        },
        { what: `transaction ${txid} to be mined`, timeoutMs: MINED_WITHIN_MS },
      );
      if (outcome === 'failed') throw new Error(`transaction ${txid} failed on chain`);
    },
    async balance(address, contract) {
      if (contract !== null) return tronTokenBalance(node, contract, address);
      const { balance = 0 } = await node.call<{ balance?: number | bigint }>('wallet/getaccount', { address: hex21(address) });
      return BigInt(balance);
    },
    blockHash: async (height) => (await node.block(height))?.blockID,
    identity: async () => `genesis ${(await node.block(0))?.blockID ?? 'unknown'}`,
  };
}

/** TRON chains on this machine: the node of ops/devnet/tron, as a process of its own. */
export const tronFamily: LocalFamily = {
  faucetPrivateKey: TRON_FAUCET.privateKey,
  outsider: TRON_OUTSIDER,
  walletCoins: 10_000n,
  open: (url) => tronChain(tronNode(url), TRON_FAUCET.privateKey),
  pages: (network, url) => tronPages(network, tronNode(url), tronChain(tronNode(url), TRON_FAUCET.privateKey)),
  async start({ root, port, keptAt, log, onStart, signal }) {
    const service = await startService({
      name: 'tron-node',
      command: process.execPath,
      args: ['--enable-source-maps', join(root, 'dist', 'tron-node.js'), '--port', String(port), '--data', keptAt],
      cwd: root,
      env: plainEnvironment(),
      onLine: (line) => line.startsWith('Listening on ') || log(line),
      onStart,
    });
    const url = `http://127.0.0.1:${port}`;
    const control = tronControl(url);
    await untilUp(service, () => control.status(), { what: 'the TRON node to answer', tell: log, signal });
    return {
      ...tronFamily.open(url),
      url,
      service,
      async startMining({ blockSeconds, serviceNow }) {
        // A service clock that was advanced in an earlier run: block times must not fall behind.
        if (serviceNow.getTime() > (await control.status()).nowMs) await control.setTime(Math.floor(serviceNow.getTime() / 1_000));
        await control.setInterval(blockSeconds);
      },
      stop: () => service.stop(),
    };
  },
};

import { Agent, request } from 'node:http';

/** Connections nobody uses are closed before the node does so itself, or a call would be lost with one. */
const connections = new Agent({ keepAlive: true, timeout: 4_000 });

/** A local development node: plain JSON-RPC, with the accounts it keeps unlocked paying for everything. */
export interface EvmNode {
  url: string;
  call<T>(method: string, params: unknown[]): Promise<T>;
  /** Sends from an unlocked account and returns the transaction id; mining it is up to the node. */
  send(transaction: { from: string; to?: string; value?: bigint; data?: string; gas?: bigint }): Promise<string>;
  /** The receipt once the transaction is in a block. */
  receipt(txid: string): Promise<Receipt | null>;
  mine(blocks?: number): Promise<void>;
  height(): Promise<number>;
}

export interface Receipt {
  transactionHash: string;
  status: string;
  contractAddress: string | null;
  blockNumber: string;
  blockHash: string;
}

/** Talks to the node at `url`. Errors carry the node's own message. */
export function evmNode(url: string): EvmNode {
  const call = async <T>(method: string, params: unknown[]): Promise<T> => {
    const told = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const answer = JSON.parse(told) as { result?: T; error?: { message: string } };
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as T;
  };
  // The node reads an account's nonce and takes the transaction in two steps: two at once may get one nonce.
  const sending = new Map<string, Promise<unknown>>();
  const afterEarlier = <T>(account: string, send: () => Promise<T>): Promise<T> => {
    const mine = (sending.get(account) ?? Promise.resolve()).then(send, send);
    sending.set(account, mine);
    return mine;
  };
  const sendNow: EvmNode['send'] = ({ from, to, value, data, gas }) =>
    call<string>('eth_sendTransaction', [
      {
        from,
        ...(to === undefined ? {} : { to }),
        ...(value === undefined ? {} : { value: hex(value) }),
        ...(data === undefined ? {} : { data }),
        ...(gas === undefined ? {} : { gas: hex(gas) }),
      },
    ]);
  return {
    url,
    call,
    send: (transaction) => afterEarlier(transaction.from.toLowerCase(), () => sendNow(transaction)),
    receipt: (txid) => call('eth_getTransactionReceipt', [txid]),
    mine: async (blocks = 1) => {
      await call('anvil_mine', [hex(BigInt(blocks))]);
    },
    height: async () => Number(await call<string>('eth_blockNumber', [])),
  };
}

/** A node that is sent its first blob reads 4,096 points of a curve first: twenty seconds where others want the cores too. */
const PATIENCE_MS = 120_000;

/** Posts JSON and reads the whole reply, for a fraction of what `fetch` costs: a test asks its node hundreds of times. */
function post(url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asked = request(url, { method: 'POST', agent: connections, headers, signal: AbortSignal.timeout(PATIENCE_MS) }, (answer) => {
      let told = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        told += part;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve(told));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** `0x`-prefixed quantity. */
export function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** Call data: a 4-byte selector and 32-byte words; addresses as hex text, numbers as bigint. */
export function callData(selector: string, ...words: (string | bigint)[]): string {
  return `0x${selector}${words.map((word) => (typeof word === 'bigint' ? word.toString(16) : word.slice(2).toLowerCase()).padStart(64, '0')).join('')}`;
}

/** ERC-20 `transfer(address,uint256)`. */
export function transferData(recipient: string, rawAmount: bigint): string {
  return callData('a9059cbb', recipient, rawAmount);
}

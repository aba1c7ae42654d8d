import { openGate } from '../budget-gate.ts';
import { post } from '../post.ts';
import { printable } from '../printable.ts';
import { type Rpc, type RpcObserver, type RpcOptions, RpcRefused } from '../rpc.ts';
import { type Call, openBatches } from '../rpc-batches.ts';
import { keyHider } from '../url-keys.ts';
import { endpointOf, failureOf, readReply, readUnread } from './http.ts';
import { readAnswer } from './unread-hex.ts';

const TIMEOUT_MS = 30_000;
/** What reads every unspent output of the chain takes minutes on mainnet. */
const PATIENCE_MS: Readonly<Record<string, number>> = { scantxoutset: 15 * 60_000 };
/** A few full blocks with all they spend fit; an endless reply does not. */
const LARGEST_REPLY_BYTES = 256 * 1024 * 1024;
/** As much of a node's own words as anybody reads; they end up in logs and notes. */
const LONGEST_REFUSAL = 300;
/** Told while a node starts: "Loading block index…". */
const WARMING_UP = -28;

/**
 * Speaks JSON-RPC with one bitcoind. Requests say 2.0; answers of both conventions are understood: older nodes, and some
 * gateways, answer 1.x, where an error comes with HTTP 500 or 404 and each answer has both `result` and `error`. Amounts arrive
 * as the text they were written in (json.ts). Blocks as bytes, and transactions with what they spend, may be had `unread` (decision 0047). User name and password of the URL go into a header and never into a message;
 * redirects are never followed.
 */
export function openBitcoinRpc(url: string, observe: RpcObserver = () => undefined, options: RpcOptions = {}): Rpc {
  const { target, provider, headers } = endpointOf(url);
  const hide = keyHider(url);
  const ask = openBatches(
    {
      provider,
      gate: options.gate ?? openGate(url),
      retryMs: options.retryMs,
      async post(body) {
        const calls = [body].flat();
        const timeoutMs = Math.max(options.timeoutMs ?? TIMEOUT_MS, ...calls.map(({ method }) => PATIENCE_MS[method] ?? 0));
        const reply = await post(target, { headers, body: JSON.stringify(body), timeoutMs, largestBytes: LARGEST_REPLY_BYTES });
        return calls.some(isLeftUnread) ? readUnread(reply, new Set(calls.filter(isTransaction).map(({ id }) => id)), calls.length) : readReply(reply);
      },
      failureOf,
      judge: (error, { method }) =>
        error.code === WARMING_UP ? 'again' : new RpcRefused(method, error.code, printable(hide(error.message), LONGEST_REFUSAL), undefined),
      again: { problem: 'it is still starting', trouble: 'down' },
      goesAlone: (method) => PATIENCE_MS[method] !== undefined,
    },
    observe,
  );
  return async (method, params, as) => {
    const answer = await ask(method, params);
    return as === 'unread' ? answer : readAnswer(answer);
  };
}

function isLeftUnread(call: Call): boolean {
  return (call.method === 'getblock' && call.params[1] === 0) || isTransaction(call);
}

/** A transaction with what it spends, of which nothing else is read. */
function isTransaction({ method, params }: Call): boolean {
  return method === 'getrawtransaction' && params[1] === 2;
}

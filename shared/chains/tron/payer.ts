import { randomInt } from 'node:crypto';
import type { Bound, FeeQuote, Payer, TransferIntent } from '../chain.ts';
import { presentBalance } from './balance.ts';
import { DOCUMENTED_ENERGY, feeLimitFor, largestFee, type Priced, type Prices, presentFee, readPrices, readResources } from './fees.ts';
import type { TronApi } from './http.ts';
import { readBroadcast, sureOf } from './paying-replies.ts';
import { type Header, isNothing, readHeader, readObject, readUnits, unsure } from './replies.ts';
import { type Simulated, simulateTransfer } from './simulate.ts';
import { bandwidthOf, toHex21, type TronFields, writeFields } from './transaction.ts';

/** Long enough for a node that is a little behind and a busy chain; short, because nothing else may be tried before it is over (reliability D14). */
const LIFETIME_MS = 90_000;
/** Two transfers alike in everything would be one transaction, so no two quotes are: their times differ by chance. */
const LIFETIME_SPREAD_MS = 30_000;
const TIMESTAMP_SPREAD_MS = 86_400_000;

type Rejected = { ok: false; rejected: string; about?: 'amount' };

/**
 * The keyless half of paying on TRON, through one node's HTTP API. `wallet/` is the node's head, `walletsolidity/` what
 * can no longer be undone; both lie below the same base URL. `random` draws from 0 up to, not including, its argument.
 */
export function tronPayer(api: TronApi, random: (below: number) => number = randomInt): Payer {
  const ask = sureOf(api);

  /** Whether there is anything at an address: an account, or the code of a contract. */
  const isThere = async (path: string, body: Record<string, unknown>): Promise<boolean> => {
    return !isNothing(readObject(await ask(path, { ...body, visible: false }), 'what is at an address'));
  };

  const headOf = async (view: 'wallet' | 'walletsolidity'): Promise<Header> => readHeader(await ask(`${view}/getblock`, { detail: false }));

  /** Fields of a transaction made now: it names the last solid block, which no reorganisation takes away, and expires by the chain's clock. */
  const anchor = async (): Promise<TronFields> => {
    const [head, solid] = await Promise.all([headOf('wallet'), headOf('walletsolidity')]);
    if (solid.height > head.height || solid.timeMs > head.timeMs) unsure('its head is behind its own solid block');
    return {
      refBlockBytes: solid.hash.slice(12, 16),
      refBlockHash: solid.hash.slice(16, 32),
      expirationMs: BigInt(head.timeMs + LIFETIME_MS + random(LIFETIME_SPREAD_MS)),
      timestampMs: BigInt(head.timeMs - random(TIMESTAMP_SPREAD_MS)),
      feeLimit: 0n,
    };
  };

  /** The energy of a transfer whose sender need not hold the tokens. */
  const energyAnyway = async (intent: TransferIntent & { contract: string }): Promise<Simulated> => {
    const { sender, recipient, contract, rawAmount } = intent;
    const [held, known] = await Promise.all([presentBalance(ask, sender, contract), presentBalance(ask, recipient, contract)]);
    if (held >= rawAmount) return simulateTransfer(ask, intent);
    // What it takes depends on whether the recipient holds any, hardly on how much moves: the sender can show it with one
    // unit, and a recipient that holds some by paying itself.
    const standIn = held > 0n ? sender : known > 1n ? recipient : null;
    const simulated = standIn === null ? null : await simulateTransfer(ask, { ...intent, sender: standIn, rawAmount: 1n });
    if (simulated?.ok === true) return simulated;
    return simulated !== null && standIn === sender
      ? simulated
      : { ok: true, energy: known > 0n ? DOCUMENTED_ENERGY.existingHolder : DOCUMENTED_ENERGY.newHolder };
  };

  const priced = async (intent: TransferIntent, prices: Prices, fields: TronFields, funded: boolean): Promise<{ ok: true; priced: Priced } | Rejected> => {
    const { sender, recipient, contract, rawAmount } = intent;
    if (rawAmount <= 0n) return { ok: false, rejected: 'it moves nothing' };
    if (contract === null) {
      // Beyond this tools round; it is a tenth of all TRX there is.
      if (rawAmount > Number.MAX_SAFE_INTEGER) return { ok: false, rejected: 'it is more TRX than one transfer carries', about: 'amount' };
      if (sender === recipient) return { ok: false, rejected: 'TRX cannot be sent to its own sender' };
      const at = toHex21(recipient);
      const [there, code] = await Promise.all([isThere('wallet/getaccount', { address: at }), isThere('wallet/getcontract', { value: at })]);
      if (code) return { ok: false, rejected: 'the recipient is a contract, which takes no plain TRX transfer' };
      return { ok: true, priced: { feeLimit: 0n, energy: 0n, bandwidth: bandwidthOf(intent, fields), newAccount: !there } };
    }
    if (rawAmount >> 256n !== 0n) return { ok: false, rejected: 'it is more than a token can count', about: 'amount' };
    const call = { ...intent, contract };
    const simulated = await (funded ? energyAnyway(call) : simulateTransfer(ask, call));
    if (!simulated.ok) return simulated;
    const feeLimit = feeLimitFor(simulated.energy, prices);
    if (feeLimit === null) return { ok: false, rejected: `it would burn ${simulated.energy * prices.energy} sun for energy, more than any transfer may` };
    return { ok: true, priced: { feeLimit, energy: simulated.energy, bandwidth: bandwidthOf(intent, { ...fields, feeLimit }), newAccount: false } };
  };

  /** Why the sender could not pay for the transfer in the present state, or null. */
  const unaffordable = async ({ sender, contract, rawAmount }: TransferIntent, transfer: Priced, prices: Prices): Promise<string | null> => {
    const address = toHex21(sender);
    const [found, resources] = await Promise.all([
      ask('wallet/getaccount', { address, visible: false }).then((account) => readObject(account, 'the account')),
      ask('wallet/getaccountresource', { address, visible: false }),
    ]);
    if (isNothing(found)) return 'the sender is not an account yet';
    if (found.address !== address) unsure(`asked for the account ${address}, got another one`);
    const balance = readUnits(found.balance, 'the balance');
    const needed = presentFee(transfer, prices, readResources(resources)) + (contract === null ? rawAmount : 0n);
    return balance < needed ? `the sender holds ${balance} sun and needs ${needed}` : null;
  };

  const price = async (intent: TransferIntent, funded: boolean, bound?: Bound): Promise<{ ok: true; quote: FeeQuote } | Rejected> => {
    const [prices, fields] = await Promise.all([ask('wallet/getchainparameters', {}).then(readPrices), anchor()]);
    const answer = await priced(intent, prices, fields, funded);
    if (!answer.ok) return answer;
    const { energy } = answer.priced;
    const most = bound?.mostUnits ?? bound?.units;
    if (most !== undefined && energy > most) return { ok: false, rejected: `its destination takes ${energy} energy, of which ${bound?.units} were quoted` };
    const problem = funded ? null : await unaffordable(intent, answer.priced, prices);
    if (problem !== null) return { ok: false, rejected: problem };
    return {
      ok: true,
      quote: {
        rawFee: largestFee(answer.priced, prices),
        fields: writeFields({ ...fields, feeLimit: answer.priced.feeLimit }),
        expiresAtMs: Number(fields.expirationMs),
        ...(energy > 0n && { units: energy }),
      },
    };
  };

  return {
    quote: (intent, _coins, bound) => price(intent, false, bound),
    estimate: (intent) => price(intent, true),
    bump: null,
    nonce: async () => null,
    bytesLiveSeconds: (LIFETIME_MS + LIFETIME_SPREAD_MS) / 1_000,

    async broadcast(signedBytes) {
      try {
        return readBroadcast(await api('wallet/broadcasthex', { transaction: Buffer.from(signedBytes).toString('hex') }));
      } catch (error) {
        return { accepted: false, answer: error instanceof Error ? error.message : String(error) };
      }
    },

    balance: (address, contract) => presentBalance(ask, address, contract),
  };
}

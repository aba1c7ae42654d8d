import { createHash } from 'node:crypto';
import { at } from '#api/clients/prices/http.ts';
import { type Posted, postForm } from './http.ts';
import type { ScreeningAnswer, ScreeningProvider, ScreeningQuestion } from './provider.ts';

/** Where the provider is, and who asks. */
export interface AmlbotAccount {
  /** Null means the provider's own. */
  baseUrl: string | null;
  accessId: string;
  accessKey: string;
}

const BASE_URL = 'https://extrnlapiendpoint.silencatech.com';

/** The provider's name of each chain; a token is asked for by the chain it lives on. */
const ASSETS: Readonly<Record<string, string>> = {
  'evm:1': 'ETH',
  'evm:10': 'OP',
  'evm:56': 'BSC',
  'evm:137': 'MATIC',
  'evm:8453': 'BASE',
  'evm:42161': 'ARB',
  'tron:mainnet': 'TRX',
  'bitcoin:mainnet': 'BTC',
};

/**
 * AMLBot: a form is posted with `token` = md5(hash:key:id) in lowercase hex; the answer is `{ result, balance, data: {
 * riskscore: 0…1, signals: { category: share }, hasBlackListFlag, uid, status } }`, or pending, and then `/recheck` is asked
 * with the `uid`. A transaction is asked for by `hash`, `address` and `direction`, an address by `hash` alone.
 *
 * The provider documents this to its customers only. The above is what several public clients of it agree on.
 * Not verified: the asset names of the L2s; how an empty account is told, taken to be `result: false` with words about the
 * balance; that `hasBlackListFlag` means the address itself, taken to be so and scored 100; whether a repeated check is
 * charged again, taken to be so. Where `status` and `uid` stand differs between clients; both places are read.
 */
export function amlbot(account: AmlbotAccount): ScreeningProvider {
  const baseUrl = account.baseUrl ?? BASE_URL;
  const post = (path: string, subject: string, form: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Posted> => {
    const token = createHash('md5').update(`${subject}:${account.accessKey}:${account.accessId}`).digest('hex');
    return postForm(`${baseUrl}${path}`, { accessId: account.accessId, locale: 'en_US', token, ...form }, signal);
  };
  return {
    name: 'amlbot',
    capabilities: { score: true, async: true, idempotent: false, networks: Object.keys(ASSETS) },
    async ask(question, signal): Promise<ScreeningAnswer> {
      const asset = ASSETS[`${question.network.family}:${question.network.chainId}`];
      if (asset === undefined) return { outcome: 'unavailable', problem: `does not know the network ${question.network.name}` };
      const form = { asset, flow: 'fast', ...subjectOf(question) };
      return read(await post('/', form.hash, form, signal));
    },
    async poll(ref, signal): Promise<ScreeningAnswer> {
      return read(await post('/recheck', ref, { uid: ref }, signal));
    },
  };
}

function subjectOf(question: ScreeningQuestion): { hash: string } & Record<string, string> {
  if (question.direction === 'withdrawal') return { hash: question.address };
  return { hash: question.txid, address: question.recipient, direction: 'deposit' };
}

function read(posted: Posted): ScreeningAnswer {
  if ('problem' in posted) return { outcome: 'unavailable', problem: posted.problem };
  const { json } = posted;
  const ref = textOf(at(json, 'data', 'uid')) ?? textOf(at(json, 'uid'));
  if (at(json, 'result') !== true) {
    const words = String(at(json, 'description') ?? at(json, 'message') ?? '')
      .replace(/\p{Cc}/gu, '\ufffd')
      .slice(0, 100);
    return /balance|insufficient|not enough/i.test(words) ? { outcome: 'no_credit' } : { outcome: 'unavailable', problem: `refused: ${words}` };
  }
  const status = at(json, 'data', 'status') ?? at(json, 'status');
  if (status === 'pending') return ref === null ? { outcome: 'unavailable', problem: 'pending without a uid' } : { outcome: 'pending', ref };
  if ((status ?? 'success') !== 'success') return { outcome: 'unavailable', problem: 'a check that is neither done nor pending' };
  const share = shareOf(at(json, 'data', 'riskscore'));
  if (share === undefined) return { outcome: 'unavailable', problem: 'no risk score in the answer' };
  const sanctioned = at(json, 'data', 'hasBlackListFlag') ?? false;
  if (typeof sanctioned !== 'boolean') return { outcome: 'unavailable', problem: 'an unclear blacklist flag' };
  return { outcome: 'verdict', score: sanctioned ? 100 : pointsOf(share), sanctioned, categories: categoriesOf(at(json, 'data', 'signals')), ref };
}

/** A share of 0 to 1, which some answers write as text. */
function shareOf(value: unknown): number | undefined {
  const share = typeof value === 'string' && /^\d(\.\d{1,20})?$/.test(value) ? Number(value) : value;
  return typeof share === 'number' && share >= 0 && share <= 1 ? share : undefined;
}

/** Rounded up, so that rounding never clears anybody; 0.07 times 100 is not 8. */
function pointsOf(share: number): number {
  return Math.ceil(Number((share * 100).toFixed(6)));
}

function categoriesOf(signals: unknown): string[] {
  if (typeof signals !== 'object' || signals === null) return [];
  return Object.entries(signals)
    .map(([name, share]) => ({ name: name.slice(0, 60), share: shareOf(share) ?? 0 }))
    .filter(({ name, share }) => share > 0 && /^[\w -]+$/.test(name))
    .sort((a, b) => b.share - a.share)
    .slice(0, 20)
    .map(({ name }) => name);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : null;
}

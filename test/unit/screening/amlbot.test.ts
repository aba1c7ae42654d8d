import { createHash } from 'node:crypto';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { amlbot } from '#api/clients/screening/amlbot.ts';
import type { DepositQuestion, DestinationQuestion, ScreeningAnswer } from '#api/clients/screening/provider.ts';

beforeAll(() => {
  // Another file of this worker may have put it away.
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
});
afterEach(() => {
  nock.abortPendingRequests();
  nock.cleanAll();
});
afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

const HOST = 'https://aml.example';
const KEY = 'access-key-canary';
const provider = amlbot({ baseUrl: HOST, accessId: 'access-id', accessKey: KEY });
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TXID = `0x${'ab'.repeat(32)}`;
const ethereum = { name: 'ethereum', family: 'evm', chainId: '1' } as const;
const destination: DestinationQuestion = { direction: 'withdrawal', address: ADDRESS, network: ethereum, idempotencyKey: 'k' };
const deposit: DepositQuestion = { direction: 'deposit', txid: TXID, recipient: ADDRESS, senders: [], network: ethereum, idempotencyKey: 'k' };
const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** An answer in the shape that the provider's clients read. */
const checked = (data: object): object => ({
  result: true,
  balance: 41,
  data: { uid: '47A1B', address: ADDRESS, asset: 'ETH', blackListsConnections: false, pdfReport: 'https://reports.example/1', ...data },
});
const ask = (reply: object | string, status = 200, headers: Record<string, string> = {}): Promise<ScreeningAnswer> => {
  nock(HOST).post('/').reply(status, reply, headers);
  return provider.ask(destination, AbortSignal.timeout(2_000));
};

describe('what AMLBot is asked', () => {
  it('is an address, by the chain it is on, under the token made of it', async () => {
    const token = md5(`${ADDRESS}:${KEY}:access-id`);
    nock(HOST)
      .post('/', { accessId: 'access-id', locale: 'en_US', flow: 'fast', hash: ADDRESS, asset: 'ETH', token })
      .reply(200, checked({ riskscore: 0 }));
    expect(await provider.ask(destination, AbortSignal.timeout(2_000))).toMatchObject({ outcome: 'verdict' });
  });

  it('is the transaction of a deposit, with the address it paid', async () => {
    const form = { accessId: 'access-id', locale: 'en_US', flow: 'fast', hash: TXID, address: ADDRESS, direction: 'deposit', asset: 'TRX' };
    nock(HOST)
      .post('/', { ...form, token: md5(`${TXID}:${KEY}:access-id`) })
      .reply(200, checked({ riskscore: 0.5 }));
    const tron = { name: 'tron', family: 'tron', chainId: 'mainnet' } as const;
    expect(await provider.ask({ ...deposit, network: tron }, AbortSignal.timeout(2_000))).toMatchObject({ score: 50 });
  });

  it('is nothing about a network it does not know', async () => {
    const unknown = { name: 'local', family: 'evm', chainId: '31337' } as const;
    expect(await provider.ask({ ...destination, network: unknown }, AbortSignal.timeout(2_000))).toEqual({
      outcome: 'unavailable',
      problem: 'does not know the network local',
    });
  });
});

describe('what AMLBot says', () => {
  it.each([
    ['a clean address', { riskscore: 0, signals: { exchange_licensed: 1 } }, { score: 0, categories: ['exchange_licensed'] }],
    ['a risk, its causes the largest first', { riskscore: 0.705, signals: { atm: 0.2, mixer: 0.4, scam: 0 } }, { score: 71, categories: ['mixer', 'atm'] }],
    ['a score that floats badly', { riskscore: 0.07 }, { score: 7 }],
    ['a hair above a whole point: never rounded down', { riskscore: 0.6901 }, { score: 70 }],
    ['a score as text', { riskscore: '0.04' }, { score: 4 }],
    ['the worst', { riskscore: 1 }, { score: 100 }],
    ['an address on a blacklist, whatever its score', { riskscore: 0.1, hasBlackListFlag: true }, { score: 100, sanctioned: true }],
  ])('%s', async (_case, data, expected) => {
    expect(await ask(checked({ status: 'success', ...data }))).toMatchObject({ outcome: 'verdict', sanctioned: false, ref: '47A1B', ...expected });
  });

  it('is pending at first, and told when asked again by its uid', async () => {
    expect(await ask({ result: true, data: { status: 'pending', uid: '47A1B' } })).toEqual({ outcome: 'pending', ref: '47A1B' });
    nock(HOST)
      .post('/recheck', { accessId: 'access-id', locale: 'en_US', uid: '47A1B', token: md5(`47A1B:${KEY}:access-id`) })
      .reply(200, checked({ status: 'success', riskscore: 0.9 }));
    expect(await provider.poll('47A1B', AbortSignal.timeout(2_000))).toMatchObject({ outcome: 'verdict', score: 90 });
  });

  it('is pending where status and uid stand beside the data', async () => {
    expect(await ask({ result: true, status: 'pending', uid: '47A1B' })).toEqual({ outcome: 'pending', ref: '47A1B' });
  });

  it('is that our account is empty', async () => {
    expect(await ask({ result: false, description: 'Insufficient balance' })).toEqual({ outcome: 'no_credit' });
  });
});

describe('what is never taken for a verdict', () => {
  it.each<[string, object | string, string]>([
    ['a refusal', { result: false, description: 'wrong\u0000 hash' }, 'refused: wrong\ufffd hash'],
    ['an answer without a score', checked({ status: 'success' }), 'no risk score in the answer'],
    ['an unknown score', checked({ status: 'success', riskscore: null }), 'no risk score in the answer'],
    ['a score below zero', checked({ riskscore: -0.1 }), 'no risk score in the answer'],
    ['a score in per cent', checked({ riskscore: 35 }), 'no risk score in the answer'],
    ['a score in words', checked({ riskscore: 'low' }), 'no risk score in the answer'],
    ['success in words', { ...checked({ riskscore: 0 }), result: 'true' }, 'refused: '],
    ['pending without a uid', { result: true, data: { status: 'pending' } }, 'pending without a uid'],
    ['a check that failed, whatever score stands beside it', checked({ status: 'failed', riskscore: 0 }), 'a check that is neither done nor pending'],
    ['a blacklist flag that is neither yes nor no', checked({ riskscore: 0, hasBlackListFlag: 'true' }), 'an unclear blacklist flag'],
    ['a list', [], 'refused: '],
    ['a page', '<html>checking your browser</html>', 'did not answer JSON'],
    ['nothing', '', 'did not answer JSON'],
  ])('%s', async (_case, reply, problem) => {
    expect(await ask(reply)).toEqual({ outcome: 'unavailable', problem });
  });

  it.each([429, 500, 502, 204])('status %i', async (status) => {
    expect(await ask('', status)).toEqual({ outcome: 'unavailable', problem: `answered ${status}` });
  });

  it('a redirect, which is not followed', async () => {
    const elsewhere = nock('https://elsewhere.example')
      .post('/')
      .reply(200, checked({ riskscore: 0 }));
    expect(await ask('', 307, { location: 'https://elsewhere.example/' })).toEqual({ outcome: 'unavailable', problem: 'answered 307' });
    expect(elsewhere.isDone()).toBe(false);
  });

  it('an answer without end', async () => {
    expect(await ask(JSON.stringify({ ...checked({ riskscore: 0 }), padding: 'x'.repeat(1_000_001) }))).toEqual({
      outcome: 'unavailable',
      problem: 'answered too much',
    });
  });

  it('silence', async () => {
    nock(HOST)
      .post('/')
      .delay(2_000)
      .reply(200, checked({ riskscore: 0 }));
    expect(await provider.ask(destination, AbortSignal.timeout(50))).toEqual({ outcome: 'unavailable', problem: 'no answer in time' });
  });

  it('a connection that breaks, which names neither the token nor the address', async () => {
    nock(HOST).post('/').replyWithError(`connect to ${HOST}/?token=${KEY} failed`);
    expect(await provider.ask(destination, AbortSignal.timeout(2_000))).toEqual({ outcome: 'unavailable', problem: 'not reached' });
  });
});

import { describe, expect, it } from 'vitest';
import { onlyHit, pathOfHit } from '#api/console/operator-hits.ts';
import { type Facts, needsOf } from '#api/console/operator-needs.ts';

const NOW = '2026-11-27T12:00:00.000Z';
const none = { count: 0, more: false };
const chain = { name: 'ethereum', head: 100, applied: 100, final: 90, appliedAt: NOW, caughtUpAt: NOW, pausedAt: null, led: true };
const freezes = { freezes: [], haltedWallets: [], unknownTransactions: [], awaitingComparison: false, awaitingNetworks: [], signerJournal: null };
const calm: Facts = {
  wallNow: NOW,
  chains: [chain],
  freezes,
  prices: { mode: 'http', count: 3, unusable: [], oldestSeconds: 20 },
  canary: null,
  audited: { oldest: '2026-11-27T03:00:00.000Z', checks: 9 },
  held: none,
  proposals: none,
  pendingApproval: none,
  underfunded: none,
  waitingScreening: none,
  creditAsks: [],
  deadJobs: none,
  unallocated: none,
  unexplained: none,
};
const report = { reason: '', unknown: 0, reportedAt: NOW };
const wallet = { network: 'ethereum', role: 'hot', address: '0x1', reason: 'it moved', unexplained: [], clearable: false };
const kinds = (facts: Partial<Facts>) => needsOf({ ...calm, ...facts }).map(({ kind, count }) => [kind, count]);

describe('what an operator has to look at', () => {
  it('is nothing while everything goes on', () => {
    expect(needsOf(calm)).toEqual([]);
    expect(kinds({ audited: null, canary: { attemptedAt: NOW, succeededAt: NOW, problem: null } })).toEqual([]);
    expect(kinds({ freezes: { ...freezes, signerJournal: { ...report, state: 'open' } } })).toEqual([]);
  });

  it.each([
    ['frozen', { freezes: { ...freezes, freezes: [{ scope: 'all', reason: 'r', frozenAt: NOW }] } }],
    ['halted', { freezes: { ...freezes, haltedWallets: [wallet] } }],
    ['signer', { freezes: { ...freezes, signerJournal: { ...report, state: 'missing' } } }],
    ['comparing', { freezes: { ...freezes, awaitingNetworks: ['ethereum'] } }],
    ['unknown-outgoing', { freezes: { ...freezes, unknownTransactions: [{ network: 'ethereum', transactions: 1 }] } }],
    ['unattended', { chains: [{ ...chain, led: false }] }],
    ['behind', { chains: [{ ...chain, applied: 49 }] }],
    ['paused', { chains: [{ ...chain, led: false, pausedAt: NOW }] }],
    ['held', { held: { count: 1, more: false } }],
    ['proposed', { proposals: { count: 1, more: false } }],
    ['waiting-approval', { pendingApproval: { count: 1, more: false } }],
    ['underfunded', { underfunded: { count: 1, more: false } }],
    ['waiting-screening', { waitingScreening: { count: 1, more: false } }],
    ['credit-asked', { creditAsks: [{ gatewayId: '1' }] }],
    ['dead-jobs', { deadJobs: { count: 1, more: false } }],
    ['unallocated', { unallocated: { count: 1, more: false } }],
    ['unexplained', { unexplained: { count: 1, more: false } }],
    ['prices', { prices: { ...calm.prices, unusable: ['BTC'] } }],
    ['books', { audited: { oldest: '2026-11-25T12:00:00.000Z', checks: 9 } }],
    ['canary', { canary: { attemptedAt: NOW, succeededAt: NOW, problem: 'no answer' } }],
    ['canary', { canary: { attemptedAt: NOW, succeededAt: '2026-11-27T11:00:00.000Z', problem: null } }],
  ] as const)('is %s, once, where that is all', (kind, facts) => {
    expect(kinds(facts as unknown as Partial<Facts>)).toEqual([[kind, 1]]);
  });

  it('is told with what stops cashouts before what waits for a person, and with what is not counted further', () => {
    const needs = needsOf({ ...calm, deadJobs: { count: 100, more: true }, held: { count: 2, more: false }, freezes: { ...freezes, haltedWallets: [wallet] } });
    expect(needs.map(({ kind }) => kind)).toEqual(['halted', 'held', 'dead-jobs']);
    expect(needs.at(-1)).toEqual({ kind: 'dead-jobs', count: 100, more: true, path: '/jobs?state=dead' });
  });
});

describe('what a search opens', () => {
  const hit = (kind: Parameters<typeof pathOfHit>[0]['kind'], gatewayId: string | null = 'g') => ({ kind, id: kind, gatewayId, line: kind, at: null });
  it.each([
    [['payment'], 'payment'],
    [['payment', 'deposit', 'address'], 'payment'],
    [['settlement', 'payout'], 'settlement'],
    [['deposit'], 'deposit'],
    [['address'], 'address'],
    [['payment', 'settlement'], undefined],
    [['payment', 'payment'], undefined],
    [['deposit', 'deposit'], undefined],
    [[], undefined],
  ] as const)('of %j is %s', (found, opened) => {
    const hits = found.map((kind) => hit(kind));
    expect(onlyHit(hits, false)?.kind).toBe(opened);
    expect(onlyHit(hits, true)).toBeUndefined();
  });

  it('has a page, but for what is nobody’s and what has none', () => {
    expect(pathOfHit(hit('payment'), 'q')).toBe('/payments/payment');
    expect(pathOfHit(hit('address'), 'a b')).toBe('/payments?q=a%20b');
    expect([pathOfHit(hit('address', null), 'q'), pathOfHit(hit('payout'), 'q')]).toEqual([null, null]);
  });
});

import { describe, expect, test } from 'vitest';
import { POLICY } from '#shared/core/policy.ts';
import { PAYOUT_STATUSES } from '#state-machines/payout/machine.ts';
import { type MarketFacts, tend, type TendDecision, type TendFacts } from '#state-machines/payout/tend.ts';

const GOOD: MarketFacts = { nonceUsed: false, accepted: true, covered: true, allowed: true };
const OLD = { ageSeconds: POLICY.payoutBumpSeconds, ageBlocks: POLICY.payoutBumpBlocks };
const LONG = POLICY.payoutCloseSeconds;
const DAYS = POLICY.anchorCloseSeconds;

/** Sent under a nonce, long enough ago for a higher fee. */
const sent: TendFacts = {
  status: 'BROADCAST',
  exclusion: 'nonce',
  closing: false,
  transfers: 1,
  stuckSeconds: null,
  quoteAgeSeconds: POLICY.payoutBumpSeconds,
  quoteSecondsLeft: null,
  last: OLD,
  nextInLine: true,
  holdsUpOthers: false,
  provenDead: false,
};
const planned: TendFacts = { ...sent, status: 'PLANNED', transfers: 0, last: null, quoteAgeSeconds: POLICY.payoutQuoteSeconds };
/** On a chain without nonces. */
const expiring: TendFacts = { ...sent, exclusion: 'expiry', quoteSecondsLeft: 0 };
const expiringPlan: TendFacts = { ...planned, exclusion: 'expiry', quoteSecondsLeft: POLICY.payoutRequoteMarginSeconds - 1 };

/** Its bytes expired, and further ones are wanted. */
const replacing: TendFacts = { ...expiringPlan, status: 'REPLACING', provenDead: true };
const REFUSED: MarketFacts = { ...GOOD, accepted: false };

const table = (rows: [string, TendFacts, TendDecision][]) => test.each(rows)('%s', (_, facts, decision) => expect(tend(facts)).toBe(decision));

describe('bytes under a nonce', () => {
  table([
    ['wait while younger than a minute', { ...sent, last: { ...OLD, ageSeconds: POLICY.payoutBumpSeconds - 1 } }, 'wait'],
    ['wait while the chain stands still', { ...sent, last: { ...OLD, ageBlocks: POLICY.payoutBumpBlocks - 1 } }, 'wait'],
    ['wait behind another nonce', { ...sent, nextInLine: false, market: GOOD }, 'wait'],
    ['ask the market before anything else', sent, 'askMarket'],
    ['are bumped', { ...sent, market: GOOD }, 'bump'],
    ['are bumped before they were handed over', { ...sent, status: 'SIGNED', market: GOOD }, 'bump'],
    ['wait once the chain knows the nonce', { ...sent, market: { ...GOOD, nonceUsed: true }, stuckSeconds: LONG }, 'wait'],
    ['are stuck when a simulation refuses them', { ...sent, market: { ...GOOD, accepted: false } }, 'stuck'],
    ['are stuck when the wallet lacks the fee', { ...sent, market: { ...GOOD, covered: false } }, 'stuck'],
    ['are stuck when the fee is above a limit', { ...sent, market: { ...GOOD, allowed: false } }, 'stuck'],
    ['are stuck when they were offered often enough', { ...sent, transfers: POLICY.payoutAttempts, market: GOOD }, 'stuck'],
    ['are bumped a last time', { ...sent, transfers: POLICY.payoutAttempts - 1, market: GOOD }, 'bump'],
    ['are bumped when they can be sent again, however long they could not', { ...sent, stuckSeconds: LONG, market: GOOD }, 'bump'],
    ['are not closed a second too early', { ...sent, stuckSeconds: LONG - 1, market: { ...GOOD, accepted: false } }, 'stuck'],
    ['are closed when nothing could be sent for long', { ...sent, stuckSeconds: LONG, market: { ...GOOD, accepted: false } }, 'close'],
    ['are closed when the fee stayed above a limit for long', { ...sent, stuckSeconds: LONG, market: { ...GOOD, allowed: false } }, 'close'],
    ['are bumped as a close, however often that takes', { ...sent, closing: true, transfers: POLICY.payoutAttempts, market: GOOD }, 'bump'],
    ['are not closed twice', { ...sent, closing: true, stuckSeconds: LONG, market: { ...GOOD, covered: false } }, 'stuck'],
    ['never expire', { ...sent, provenDead: true, last: { ...OLD, ageSeconds: 0 } }, 'wait'],
  ]);
});

describe('a plan with a nonce', () => {
  table([
    ['waits for the signer while its quote is fresh', { ...planned, quoteAgeSeconds: POLICY.payoutQuoteSeconds - 1 }, 'wait'],
    ['asks the market when it is old', planned, 'askMarket'],
    ['is quoted again', { ...planned, market: GOOD }, 'requote'],
    ['waits once the chain knows its nonce', { ...planned, stuckSeconds: LONG, market: { ...GOOD, nonceUsed: true, accepted: false } }, 'wait'],
    ['is quoted again above the limits: the signer waits with it until they allow it', { ...planned, market: { ...GOOD, allowed: false } }, 'requote'],
    ['is stuck when it cannot be sent', { ...planned, market: { ...GOOD, accepted: false } }, 'stuck'],
    ['is closed when it could not be sent for long', { ...planned, stuckSeconds: LONG, market: { ...GOOD, accepted: false } }, 'close'],
    ['of further bytes is quoted again', { ...planned, status: 'REPLACING', transfers: 1, last: OLD, market: GOOD }, 'requote'],
    ['of further bytes above a limit is stuck', { ...planned, status: 'REPLACING', transfers: 1, last: OLD, market: { ...GOOD, allowed: false } }, 'stuck'],
    ['of further bytes is closed in the end', { ...planned, status: 'REPLACING', stuckSeconds: LONG, market: { ...GOOD, allowed: false } }, 'close'],
    [
      'that the network refuses gives its nonce back within a minute while others wait behind it',
      { ...planned, holdsUpOthers: true, stuckSeconds: POLICY.payoutHostageSeconds, market: { ...GOOD, accepted: false } },
      'close',
    ],
    [
      'and not a second before that',
      { ...planned, holdsUpOthers: true, stuckSeconds: POLICY.payoutHostageSeconds - 1, market: { ...GOOD, accepted: false } },
      'stuck',
    ],
    [
      'that only lacks coins keeps it, whoever waits',
      { ...planned, holdsUpOthers: true, stuckSeconds: POLICY.payoutHostageSeconds, market: { ...GOOD, covered: false } },
      'stuck',
    ],
  ]);
});

describe('bytes that spend one anchor', () => {
  const spending: TendFacts = { ...sent, exclusion: 'anchor' };
  table([
    ['ask the market before anything else', spending, 'askMarket'],
    ['are bumped', { ...spending, market: GOOD }, 'bump'],
    ['wait once the node says that the anchor is spent', { ...spending, market: { ...GOOD, nonceUsed: true }, stuckSeconds: LONG }, 'wait'],
    ['are stuck without it', { ...spending, market: { ...GOOD, accepted: false } }, 'stuck'],
    ['are stuck above the limits', { ...spending, market: { ...GOOD, allowed: false } }, 'stuck'],
    ['are not closed while fees may still fall', { ...spending, stuckSeconds: DAYS - 1, market: { ...GOOD, allowed: false } }, 'stuck'],
    ['are closed when nothing could be sent for days', { ...spending, stuckSeconds: DAYS, market: { ...GOOD, allowed: false } }, 'close'],
    ['never expire', { ...spending, provenDead: true, last: { ...OLD, ageSeconds: 0 } }, 'wait'],
  ]);
});

describe('a plan with an anchor', () => {
  const loose: TendFacts = { ...planned, exclusion: 'anchor' };
  const further: TendFacts = { ...loose, status: 'REPLACING', transfers: 1, last: OLD };
  table([
    ['waits for the signer while its quote is fresh', { ...loose, quoteAgeSeconds: POLICY.payoutQuoteSeconds - 1 }, 'wait'],
    ['is quoted again', { ...loose, market: GOOD }, 'requote'],
    ['is quoted again above the limits', { ...loose, market: { ...GOOD, allowed: false } }, 'requote'],
    ['gives its outputs back when they do not cover it any more', { ...loose, market: { ...GOOD, covered: false } }, 'giveUp'],
    ['gives them back when the anchor is gone', { ...loose, market: { ...GOOD, accepted: false } }, 'giveUp'],
    ['gives them back when the node says that the anchor is spent', { ...loose, market: { ...GOOD, nonceUsed: true } }, 'giveUp'],
    ['of further bytes is quoted again', { ...further, market: GOOD }, 'requote'],
    ['of further bytes never gives anything back', { ...further, market: { ...GOOD, accepted: false } }, 'stuck'],
    ['of further bytes waits once the node says that the anchor is spent', { ...further, market: { ...GOOD, nonceUsed: true }, stuckSeconds: LONG }, 'wait'],
    ['of further bytes is closed in the end', { ...further, stuckSeconds: DAYS, market: { ...GOOD, allowed: false } }, 'close'],
  ]);
});

describe('bytes that expire', () => {
  table([
    ['wait until a final block proves them dead, however long that takes', { ...expiring, last: { ageSeconds: 86_400, ageBlocks: 10_000 } }, 'wait'],
    ['ask the node as well', { ...expiring, provenDead: true }, 'askNode'],
    ['wait when the node knows them in a block that our scan has not met', { ...expiring, provenDead: true, inABlock: true }, 'wait'],
    ['expire when both say they never were', { ...expiring, provenDead: true, inABlock: false }, 'expire'],
    ['expire though nobody noted that they were sent', { ...expiring, status: 'SIGNED', provenDead: true, inABlock: false }, 'expire'],
    ['are never bumped or closed', { ...expiring, market: GOOD, stuckSeconds: LONG }, 'wait'],
  ]);
});

describe('a plan without a nonce', () => {
  table([
    ['waits for the signer while it lives', { ...expiringPlan, quoteAgeSeconds: 1, quoteSecondsLeft: POLICY.payoutRequoteMarginSeconds }, 'wait'],
    ['asks the market when it is about to expire', { ...expiringPlan, quoteAgeSeconds: 1 }, 'askMarket'],
    ['is made again', { ...expiringPlan, market: GOOD }, 'requote'],
    ['is given up when the wallet no longer covers it', { ...expiringPlan, market: { ...GOOD, covered: false } }, 'giveUp'],
    ['is given up when the network refuses it', { ...expiringPlan, market: { ...GOOD, accepted: false } }, 'giveUp'],
    ['of further bytes is made again', { ...expiringPlan, status: 'REPLACING', market: GOOD }, 'requote'],
    ['of further bytes waits when the network refuses it', { ...replacing, market: REFUSED }, 'stuck'],
    ['of further bytes asks the node before it is given up', { ...replacing, stuckSeconds: LONG, market: REFUSED }, 'askNode'],
    ['of further bytes is given up when the network refused it for long', { ...replacing, stuckSeconds: LONG, market: REFUSED, inABlock: false }, 'abandon'],
    ['of further bytes is not given up a second too early', { ...replacing, stuckSeconds: LONG - 1, market: REFUSED, inABlock: false }, 'stuck'],
    ['of further bytes is not given up while some may be in a block', { ...replacing, stuckSeconds: LONG, market: REFUSED, inABlock: true }, 'stuck'],
    [
      'of further bytes is not given up before those sent are proven dead',
      { ...replacing, provenDead: false, stuckSeconds: LONG, market: REFUSED, inABlock: false },
      'stuck',
    ],
    [
      'of further bytes that only lacks coins is never given up',
      { ...replacing, stuckSeconds: LONG, market: { ...GOOD, covered: false }, inABlock: false },
      'stuck',
    ],
  ]);
});

test.each(PAYOUT_STATUSES.filter((status) => ['INCLUDED', 'CONFIRMED', 'FAILED', 'CANCELLED'].includes(status)))('%s needs nothing', (status) => {
  for (const exclusion of ['nonce', 'anchor', 'expiry'] as const)
    expect(tend({ ...sent, status, exclusion, market: GOOD, provenDead: true, inABlock: false, stuckSeconds: LONG })).toBe('wait');
});

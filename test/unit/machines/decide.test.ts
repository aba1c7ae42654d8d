import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Coins, parseTrusted, type Usd } from '#shared/core/money.ts';
import { decide } from '#state-machines/settlement/decide.ts';
import { GATES } from '#state-machines/settlement/gates/index.ts';
import { likelyPool } from '#state-machines/settlement/gates/route.ts';
import { judge, type Policy } from '#state-machines/settlement/policies.ts';
import type { Decision, Need, PolicyQuestion, Screen, SettlementRequest } from '#state-machines/settlement/settlement.ts';
import '../core/arbitraries.ts';

const coins = (value: string) => parseTrusted<'asset'>(value) as Coins;
const usd = (value: string) => parseTrusted<'usd'>(value) as Usd;

/** A request with every fact at hand that claims unless something is changed. */
function aRequest(changes: Partial<SettlementRequest> = {}): SettlementRequest {
  return {
    amount: coins('100'),
    decimals: 6,
    route: 'GREEN',
    minimumSettlement: coins('10'),
    screening: { enabled: false, threshold: 70 },
    parkingEnabled: false,
    parkedCap: 20,
    approvalCapUsd: null,
    parkedAs: null,
    policies: asking(),
    priceUsd: usd('1'),
    feeLocked: coins('2'),
    pools: { green: coins('1000'), held: coins('1000') },
    parkedCount: 0,
    ...changes,
  };
}

/** A gateway's policies, asked about a cashout to a destination it never paid. */
function asking(...policies: Policy[]): PolicyQuestion {
  return { policies, final: false, assetId: 'an asset', knownForDays: null, initiator: 'key', dayUsd: usd('0') };
}

/** One word for a decision: what a caller would see. */
function verdict(decision: Decision): string {
  if (decision.outcome === 'claim') return `claim ${decision.pool}`;
  if (decision.outcome === 'hold') return `hold ${decision.pool} ${decision.reason}`;
  if (decision.outcome === 'park') return `park ${decision.status} ${decision.pool}`;
  if (decision.outcome === 'refuse') return `refuse ${decision.code}`;
  return `needs ${decision.fact}`;
}

const screened = (screen: Screen | undefined) => ({ screening: { enabled: true, threshold: 70 }, screen });

describe('a settlement', () => {
  test('that no gate stops is claimed with the fee it locks and what is left', () => {
    expect(decide(aRequest())).toEqual({
      outcome: 'claim',
      pool: 'green',
      feeLocked: coins('2'),
      netAmount: coins('98'),
      routedByService: false,
      riskScore: null,
      people: 0,
      policy: null,
    });
  });

  test.each<[string, Partial<SettlementRequest>, string]>([
    ['below its minimum', { amount: coins('9.999999') }, 'refuse below_minimum_settlement'],
    ['at its minimum', { amount: coins('10') }, 'claim green'],
    [
      'below a dollar without a minimum',
      { minimumSettlement: null, amount: coins('3.999999'), priceUsd: usd('0.25'), feeLocked: coins('0') },
      'refuse below_minimum_settlement',
    ],
    ['at a dollar without a minimum', { minimumSettlement: null, amount: coins('4'), priceUsd: usd('0.25'), feeLocked: coins('0') }, 'claim green'],
    ['with a minimum of zero', { minimumSettlement: coins('0'), amount: coins('0.000001'), feeLocked: coins('0') }, 'claim green'],
    ['equal to its network fee', { feeLocked: coins('100') }, 'refuse amount_below_network_fee'],
    ['one unit above its network fee', { feeLocked: coins('99.999999') }, 'claim green'],
    ['below its network fee', { feeLocked: coins('100.000001') }, 'refuse amount_below_network_fee'],
    ['equal to the pool', { pools: { green: coins('100'), held: coins('0') } }, 'claim green'],
    ['one unit above the pool', { pools: { green: coins('99.999999'), held: coins('1000') } }, 'refuse insufficient_balance'],
    ['above the pool where parking is enabled', { parkingEnabled: true, pools: { green: coins('99'), held: coins('1000') } }, 'park UNDERFUNDED green'],
    [
      'above the pool with one place left to park',
      { parkingEnabled: true, parkedCount: 19, pools: { green: coins('0'), held: coins('0') } },
      'park UNDERFUNDED green',
    ],
    [
      'above the pool with no place left to park',
      { parkingEnabled: true, parkedCount: 20, pools: { green: coins('0'), held: coins('0') } },
      'refuse too_many_parked_cashouts',
    ],
    ['covered, however many are parked', { parkingEnabled: true, parkedCount: 999 }, 'claim green'],
    ['worth exactly the approval cap', { approvalCapUsd: usd('250'), priceUsd: usd('2.5') }, 'claim green'],
    ['worth the least above the approval cap', { approvalCapUsd: usd('249.999999999999999999'), priceUsd: usd('2.5') }, 'hold green approval_cap'],
    ['worth more than a cap of nothing', { approvalCapUsd: usd('0') }, 'hold green approval_cap'],
    [
      'parked and worth more than the cap',
      { approvalCapUsd: usd('0'), parkingEnabled: true, pools: { green: coins('0'), held: coins('0') } },
      'park UNDERFUNDED green',
    ],
    [
      'from the held pool without screening, where nothing was ever held',
      { route: 'AML_HELD', pools: { green: coins('1000'), held: coins('0') } },
      'refuse insufficient_balance',
    ],
    [
      'from the held pool without screening, parked',
      { route: 'AML_HELD', parkingEnabled: true, pools: { green: coins('1000'), held: coins('0') } },
      'park UNDERFUNDED held',
    ],
    ['from the held pool without screening, whatever it still holds', { route: 'AML_HELD' }, 'refuse insufficient_balance'],
    ['routed by itself without screening', { route: 'SMART' }, 'refuse screening_required'],
  ])('%s', (_, changes, expected) => {
    expect(verdict(decide(aRequest(changes)))).toBe(expected);
  });

  describe('whose destination is screened', () => {
    test.each<[SettlementRequest['route'], Screen, string]>([
      ['GREEN', { score: 69 }, 'claim green'],
      ['GREEN', { score: 70 }, 'hold green destination_flagged'],
      ['GREEN', 'unavailable', 'hold green screening_unavailable'],
      ['GREEN', 'out_of_credit', 'hold green screening_unavailable'],
      ['AML_HELD', { score: 69 }, 'claim held'],
      ['AML_HELD', { score: 70 }, 'hold held destination_flagged'],
      ['AML_HELD', 'unavailable', 'hold held screening_unavailable'],
      ['AML_HELD', 'out_of_credit', 'park WAITING_AML_CREDIT held'],
      ['SMART', { score: 69 }, 'claim green'],
      ['SMART', { score: 70 }, 'claim held'],
      ['SMART', 'unavailable', 'refuse screening_required'],
      ['SMART', 'out_of_credit', 'park WAITING_AML_CREDIT null'],
    ])('on route %s with %j', (route, screen, expected) => {
      expect(verdict(decide(aRequest({ route, ...screened(screen) })))).toBe(expected);
    });

    test('and routed by the service says so, with the score it went by', () => {
      expect(decide(aRequest({ route: 'SMART', ...screened({ score: 88 }) }))).toMatchObject({
        outcome: 'claim',
        pool: 'held',
        routedByService: true,
        riskScore: 88,
      });
      expect(decide(aRequest({ route: 'GREEN', ...screened({ score: 3 }) }))).toMatchObject({ routedByService: false, riskScore: null });
    });

    test('and waits for credit still takes a parking place', () => {
      expect(verdict(decide(aRequest({ route: 'SMART', ...screened('out_of_credit'), parkedCount: 20 })))).toBe('refuse too_many_parked_cashouts');
    });

    test('keeps the reason of the screening when it is over the cap as well', () => {
      expect(verdict(decide(aRequest({ ...screened({ score: 99 }), approvalCapUsd: usd('1') })))).toBe('hold green destination_flagged');
    });
  });

  describe('decided again while parked', () => {
    test.each<[string, Partial<SettlementRequest>, string]>([
      [
        'is not turned away by a price that fell',
        { parkedAs: 'UNDERFUNDED', minimumSettlement: null, amount: coins('3'), priceUsd: usd('0.1') },
        'claim green',
      ],
      ['is turned away by a fee that rose above it', { parkedAs: 'UNDERFUNDED', feeLocked: coins('100') }, 'refuse amount_below_network_fee'],
      ['is claimed from the pool it was routed to', { parkedAs: 'UNDERFUNDED', parkedPool: 'held', route: 'SMART', ...screened({ score: 99 }) }, 'claim held'],
      [
        'stays with the held pool when the verdict is clean by now',
        { parkedAs: 'UNDERFUNDED', parkedPool: 'held', route: 'SMART', ...screened({ score: 0 }) },
        'claim held',
      ],
      [
        'is held when its green pool was chosen and the verdict is bad by now',
        { parkedAs: 'UNDERFUNDED', parkedPool: 'green', route: 'SMART', ...screened({ score: 70 }) },
        'hold green destination_flagged',
      ],
      [
        'is held when the held pool was named and the verdict is bad',
        { parkedAs: 'UNDERFUNDED', parkedPool: 'held', route: 'AML_HELD', ...screened({ score: 70 }) },
        'hold held destination_flagged',
      ],
      [
        'is held when nobody can screen it again',
        { parkedAs: 'UNDERFUNDED', parkedPool: 'green', route: 'SMART', ...screened('unavailable') },
        'hold green screening_unavailable',
      ],
      [
        'is held when there is no credit to screen it again',
        { parkedAs: 'UNDERFUNDED', route: 'AML_HELD', ...screened('out_of_credit') },
        'hold held screening_unavailable',
      ],
      [
        'waits on for its verdict while the provider is down',
        { parkedAs: 'WAITING_AML_CREDIT', route: 'SMART', ...screened('unavailable') },
        'park WAITING_AML_CREDIT null',
      ],
      [
        'waits on for its verdict from the pool it named',
        { parkedAs: 'WAITING_AML_CREDIT', route: 'AML_HELD', ...screened('unavailable') },
        'park WAITING_AML_CREDIT held',
      ],
      ['is routed to the held pool by the verdict it waited for', { parkedAs: 'WAITING_AML_CREDIT', route: 'SMART', ...screened({ score: 90 }) }, 'claim held'],
      ['cannot be routed once screening is off', { parkedAs: 'WAITING_AML_CREDIT', route: 'SMART' }, 'refuse screening_required'],
      ['is claimed once the pool covers it', { parkedAs: 'UNDERFUNDED' }, 'claim green'],
      ['is held once covered but over the cap', { parkedAs: 'UNDERFUNDED', approvalCapUsd: usd('1') }, 'hold green approval_cap'],
      [
        'stays where it is while the pool is short, whatever the cap and the setting say now',
        { parkedAs: 'UNDERFUNDED', parkingEnabled: false, parkedCount: 99, pools: { green: coins('1'), held: coins('0') } },
        'park UNDERFUNDED green',
      ],
      [
        'waits for credit again when there is still none',
        { parkedAs: 'WAITING_AML_CREDIT', route: 'SMART', parkedCount: 99, ...screened('out_of_credit') },
        'park WAITING_AML_CREDIT null',
      ],
      [
        'waits for funds after it was screened',
        { parkedAs: 'WAITING_AML_CREDIT', route: 'SMART', ...screened({ score: 1 }), pools: { green: coins('0'), held: coins('1000') } },
        'park UNDERFUNDED green',
      ],
    ])('%s', (_, changes, expected) => {
      expect(verdict(decide(aRequest(changes)))).toBe(expected);
    });
  });

  test('that is parked needs no price for the cap it will meet later', () => {
    const { priceUsd: _, ...request } = aRequest({ approvalCapUsd: usd('1'), parkingEnabled: true, pools: { green: coins('0'), held: coins('0') } });
    expect(verdict(decide(request))).toBe('park UNDERFUNDED green');
  });

  test('refused for its balance says what was asked and what there is', () => {
    expect(decide(aRequest({ pools: { green: coins('12.5'), held: coins('0') } }))).toMatchObject({ message: 'amount: requested 100, available 12.5' });
  });

  test('refused for its size says the least that is accepted', () => {
    expect(decide(aRequest({ amount: coins('1') }))).toMatchObject({ message: 'amount: the smallest settlement of this asset is 10' });
    expect(decide(aRequest({ minimumSettlement: null, amount: coins('0.000001'), priceUsd: usd('3') }))).toMatchObject({
      message: 'amount: the smallest settlement of this asset is 0.333334',
    });
  });
});

/** What a use case fetches: nothing is known at first, and every need is answered. */
function fetching(complete: SettlementRequest): { decision: Decision; needs: Need[] } {
  const { policies, priceUsd, feeLocked, screen, pools, parkedCount, ...bare } = complete;
  const answers: Record<Need, Partial<SettlementRequest>> = {
    policies: { policies },
    price: { priceUsd },
    fee: { feeLocked },
    screen: { screen },
    pools: { pools },
    parkedCount: { parkedCount },
  };
  let request: SettlementRequest = bare;
  const needs: Need[] = [];
  for (;;) {
    const decision = decide(request);
    if (decision.outcome !== 'needs') return { decision, needs };
    if (needs.includes(decision.fact)) throw new Error(`${decision.fact} was asked for twice`);
    needs.push(decision.fact);
    request = { ...request, ...answers[decision.fact] };
  }
}

const requests: fc.Arbitrary<SettlementRequest> = fc.record({
  amount: fc.constantFrom('0.5', '1', '50', '100').map(coins),
  decimals: fc.constant(6),
  route: fc.constantFrom('GREEN' as const, 'AML_HELD' as const, 'SMART' as const),
  minimumSettlement: fc.constantFrom(null, coins('1'), coins('60')),
  screening: fc.record({ enabled: fc.boolean(), threshold: fc.constant(70) }),
  parkingEnabled: fc.boolean(),
  parkedCap: fc.constant(2),
  approvalCapUsd: fc.constantFrom(null, usd('10'), usd('60')),
  parkedAs: fc.constantFrom(null, 'UNDERFUNDED' as const, 'WAITING_AML_CREDIT' as const),
  policies: fc.constantFrom(
    asking(),
    asking({ when: { aboveUsd: usd('20') }, outcome: { kind: 'approve', people: 2 } }),
    asking({ when: { aboveUsd: usd('80') }, outcome: { kind: 'refuse' } }, { when: { aboveUsd: usd('5') }, outcome: { kind: 'allow' } }),
  ),
  parkedPool: fc.constantFrom(undefined, 'green' as const, 'held' as const),
  priceUsd: fc.constantFrom('0.5', '1', '3').map(usd),
  feeLocked: fc.constantFrom('0', '0.7', '50').map(coins),
  screen: fc.constantFrom<Screen>({ score: 10 }, { score: 70 }, 'unavailable', 'out_of_credit'),
  pools: fc.record({ green: fc.constantFrom('0', '70', '1000').map(coins), held: fc.constantFrom('0', '70', '1000').map(coins) }),
  parkedCount: fc.integer({ min: 0, max: 3 }),
});

describe('the policies of a gateway', () => {
  const two: Policy = { when: { aboveUsd: usd('50') }, outcome: { kind: 'approve', people: 2 } };
  const cap = { approvalCapUsd: usd('60') };

  test('hold what they are about for as many people as they ask for, and take the place of the cap there', () => {
    expect(decide(aRequest({ policies: asking(two) }))).toMatchObject({ outcome: 'hold', reason: 'policy', people: 2, policy: 1 });
    expect(decide(aRequest({ ...cap, policies: asking({ when: {}, outcome: { kind: 'allow' } }) }))).toMatchObject({ outcome: 'claim', people: 0, policy: 1 });
    expect(decide(aRequest({ ...cap, policies: asking({ when: { assetIds: ['another'] }, outcome: { kind: 'allow' } }) }))).toMatchObject({
      outcome: 'hold',
      reason: 'approval_cap',
      people: 1,
      policy: null,
    });
  });

  test('let nothing past a screening, whose hold needs as many people as they ask for', () => {
    const flagged = { screening: { enabled: true, threshold: 70 }, screen: { score: 90 } };
    expect(decide(aRequest({ ...flagged, policies: asking({ when: {}, outcome: { kind: 'allow' } }) }))).toMatchObject({
      reason: 'destination_flagged',
      people: 1,
    });
    expect(decide(aRequest({ ...flagged, policies: asking(two) }))).toMatchObject({ reason: 'destination_flagged', people: 2 });
  });

  test('are asked of what is parked too: it is refused at once, or accepted for so many people', () => {
    const short = { parkingEnabled: true, pools: { green: coins('0'), held: coins('0') } };
    expect(decide(aRequest({ ...short, policies: asking(two) }))).toMatchObject({ outcome: 'park', people: 2, policy: 1 });
    expect(decide(aRequest({ ...short, policies: asking({ when: {}, outcome: { kind: 'refuse' } }) }))).toMatchObject({ outcome: 'refuse', code: 'forbidden' });
    expect(decide(aRequest({ ...short, ...cap, policies: asking({ when: {}, outcome: { kind: 'allow' } }) }))).toMatchObject({ outcome: 'park', people: 0 });
  });

  test('that were read under the lock ask for no price any more: without one the cashout counts as more', () => {
    const { priceUsd, ...unpriced } = aRequest({ policies: asking(two) });
    expect(decide(unpriced)).toEqual({ outcome: 'needs', fact: 'price' });
    expect(decide({ ...unpriced, policies: { ...asking(two), final: true } })).toMatchObject({ outcome: 'hold', people: 2 });
  });
});

describe('whatever is asked', () => {
  test('facts are asked for one by one, never twice, and lead to the decision that knowing all would', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const [{ decision }, knowing] = [fetching(request), decide(request)];
        // To park, no price is asked for: without one a cashout counts as more than the cap.
        if (decision.outcome === 'park' && knowing.outcome === 'park') expect(decision.people).toBeGreaterThanOrEqual(knowing.people);
        expect({ ...decision, people: 0 }).toEqual({ ...knowing, people: 0 });
      }),
    );
  });

  test('a screening is bought only for what everything free let pass', () => {
    fc.assert(
      fc.property(requests, (request) => {
        if (!fetching(request).needs.includes('screen')) return;
        expect(request.screening.enabled).toBe(true);
        expect(request.amount > (request.feeLocked as Coins)).toBe(true);
        if (request.minimumSettlement !== null && request.parkedAs === null) expect(request.amount >= request.minimumSettlement).toBe(true);
      }),
    );
  });

  test('nothing is claimed beyond its pool, below its fee, over its cap or past a screen', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const decision = decide(request);
        if (decision.outcome !== 'claim' && decision.outcome !== 'hold') return;
        expect(request.amount <= (request.pools as { green: Coins; held: Coins })[decision.pool]).toBe(true);
        expect(decision.netAmount > 0n && decision.netAmount + decision.feeLocked === request.amount).toBe(true);
        if (decision.outcome === 'hold') return;
        const verdict = judge((request.policies as PolicyQuestion).policies, { ...(request.policies as PolicyQuestion), ...request });
        expect([null, 'allow']).toContain(verdict?.outcome.kind ?? null);
        if (request.approvalCapUsd !== null && verdict === null)
          expect(request.amount * (request.priceUsd as Usd) <= request.approvalCapUsd * 10n ** 18n).toBe(true);
        if (!request.screening.enabled) expect(decision.pool).toBe('green');
        else if (request.route !== 'SMART') expect(request.screen).toEqual({ score: 10 });
      }),
    );
  });

  test('the pool that is locked and quoted for before the last word is the one that pays', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const decision = decide(request);
        if ('pool' in decision && decision.pool !== null) expect(likelyPool(request)).toBe(decision.pool);
      }),
    );
  });

  test('nothing is parked that could never be claimed', () => {
    fc.assert(
      fc.property(requests, (request) => {
        if (decide(request).outcome !== 'park') return;
        expect(request.amount > (request.feeLocked as Coins)).toBe(true);
      }),
    );
  });
});

test('the gates stand in the order of the decisions', () => {
  expect(GATES).toHaveLength(7);
  // Each line fails at one gate and at every later one; the earlier gate answers.
  const hopeless: Partial<SettlementRequest> = {
    parkingEnabled: true,
    parkedCount: 20,
    pools: { green: coins('0'), held: coins('0') },
    route: 'SMART',
    feeLocked: coins('200'),
    minimumSettlement: coins('101'),
    policies: asking({ when: {}, outcome: { kind: 'refuse' } }),
  };
  expect(verdict(decide(aRequest(hopeless)))).toBe('refuse below_minimum_settlement');
  expect(verdict(decide(aRequest({ ...hopeless, minimumSettlement: null })))).toBe('refuse amount_below_network_fee');
  expect(verdict(decide(aRequest({ ...hopeless, minimumSettlement: null, feeLocked: coins('1') })))).toBe('refuse forbidden');
  hopeless.policies = asking();
  expect(verdict(decide(aRequest({ ...hopeless, minimumSettlement: null, feeLocked: coins('1') })))).toBe('refuse screening_required');
  expect(verdict(decide(aRequest({ ...hopeless, minimumSettlement: null, feeLocked: coins('1'), route: 'GREEN', parkingEnabled: false })))).toBe(
    'refuse insufficient_balance',
  );
  expect(verdict(decide(aRequest({ ...hopeless, minimumSettlement: null, feeLocked: coins('1'), route: 'GREEN' })))).toBe('refuse too_many_parked_cashouts');
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amount, type Coins } from '#shared/core/money.ts';
import type { Account, Pool, Posting } from '#state-machines/ledger/accounts.ts';
import {
  cancelRefund,
  credit,
  fund,
  gas,
  lose,
  mature,
  movePool,
  orderRefund,
  payRefund,
  regain,
  release,
  reserve,
  settle,
  unallocated,
  withhold,
} from '#state-machines/ledger/postings.ts';
import '../core/arbitraries.ts';

const coins = (value: bigint) => amount<'asset'>(value) as Coins;
const nameOf = ({ kind, gatewayId, settlementId }: Account) => [kind, gatewayId, settlementId].filter((part) => part !== null).join(':');

/** A postings list as `account: amount`. */
const shown = (postings: Posting[]) => Object.fromEntries(postings.map((p) => [nameOf(p.account), p.amount]));

describe('postings', () => {
  const reservation = { gatewayId: 'g', assetId: 'a', settlementId: 's', pool: 'green' as const, amount: coins(70n) };

  const claimed = { gatewayId: 'g', assetId: 'a', settlementId: 's', green: coins(0n), held: coins(0n), withheld: coins(0n) };
  const share = { gatewayId: 'g', assetId: 'a', maturing: coins(3n), matured: coins(4n) };

  test('credit a deposit less its fees', () => {
    expect(
      shown(
        credit({
          gatewayId: 'g',
          assetId: 'a',
          pool: 'green',
          gross: coins(100n),
          networkFee: coins(3n),
          commission: coins(2n),
          net: coins(95n),
          platformBears: coins(0n),
        }),
      ),
    ).toEqual({
      chain: -100n,
      'pending:g': 95n,
      networkFee: 3n,
      commission: 2n,
    });
  });

  test('credit a deposit in full where the platform bears the fees, which become its expense', () => {
    expect(
      shown(
        credit({
          gatewayId: 'g',
          assetId: 'a',
          pool: 'held',
          gross: coins(100n),
          networkFee: coins(3n),
          commission: coins(2n),
          net: coins(100n),
          platformBears: coins(5n),
        }),
      ),
    ).toEqual({
      chain: -100n,
      'heldPending:g': 100n,
      networkFee: 3n,
      commission: 2n,
      platformExpense: -5n,
    });
  });

  test.each<[string, Posting[], Record<string, bigint>]>([
    ['mature green funds', mature({ gatewayId: 'g', assetId: 'a', pool: 'green', amount: coins(9n) }), { 'pending:g': -9n, 'available:g': 9n }],
    ['mature held funds', mature({ gatewayId: 'g', assetId: 'a', pool: 'held', amount: coins(9n) }), { 'heldPending:g': -9n, 'held:g': 9n }],
    ['reserve from the green pool', reserve(reservation), { 'available:g': -70n, 'reserved:g:s': 70n }],
    ['reserve from the held pool', reserve({ ...reservation, pool: 'held' }), { 'held:g': -70n, 'reserved:g:s': 70n }],
    [
      'release to where its credits are by now',
      release({ ...claimed, held: coins(50n), withheld: coins(20n) }),
      { 'reserved:g:s': -70n, 'held:g': 50n, 'withheld:g': 20n },
    ],
    [
      'move a payment to the held pool',
      movePool({ ...share, from: 'green', to: 'held' }),
      { 'pending:g': -3n, 'available:g': -4n, 'heldPending:g': 3n, 'held:g': 4n },
    ],
    ['move it back', movePool({ ...share, from: 'held', to: 'green' }), { 'heldPending:g': -3n, 'held:g': -4n, 'pending:g': 3n, 'available:g': 4n }],
    ['withhold it', withhold(share), { 'heldPending:g': -3n, 'held:g': -4n, 'withheld:g': 7n }],
    [
      'order it back, with its commission',
      orderRefund({ ...share, commission: coins(2n) }),
      { 'heldPending:g': -3n, 'held:g': -4n, commission: -2n, 'refunding:g': 9n },
    ],
    ['pay a refund', payRefund({ gatewayId: 'g', assetId: 'a', amount: coins(9n), platformCommission: coins(0n) }), { 'refunding:g': -9n, chain: 9n }],
    [
      'pay a refund whose commission the platform had borne, which the platform has back',
      payRefund({ gatewayId: 'g', assetId: 'a', amount: coins(9n), platformCommission: coins(2n) }),
      { 'refunding:g': -9n, chain: 9n, commission: -2n, platformExpense: 2n },
    ],
    ['settle: the net leaves, the fee pays for gas', settle({ ...reservation, feeLocked: coins(4n) }), { 'reserved:g:s': -70n, chain: 66n, gas: 4n }],
    ['settle without a fee', settle({ ...reservation, feeLocked: coins(0n) }), { 'reserved:g:s': -70n, chain: 70n }],
    ['pay for gas', gas('native', coins(5n)), { gas: -5n, chain: 5n }],
    ['fund a wallet', fund('a', coins(5n)), { chain: -5n, capital: 5n }],
    ['keep what belongs to no payment', unallocated('a', coins(5n)), { chain: -5n, unallocated: 5n }],
    ['lose what a reorganisation took back', lose('a', coins(5n)), { loss: -5n, chain: 5n }],
    ['regain it', regain('a', coins(5n)), { chain: -5n, loss: 5n }],
  ])('%s', (_, postings, expected) => {
    expect(shown(postings)).toEqual(expected);
  });

  test('that move nothing are none', () => {
    expect(gas('native', coins(0n))).toEqual([]);
    expect(mature({ gatewayId: 'g', assetId: 'a', pool: 'green', amount: coins(0n) })).toEqual([]);
  });

  test('that do not sum to zero are refused before they reach the database', () => {
    expect(() =>
      credit({
        gatewayId: 'g',
        assetId: 'a',
        pool: 'green',
        gross: coins(100n),
        networkFee: coins(3n),
        commission: coins(2n),
        net: coins(96n),
        platformBears: coins(0n),
      }),
    ).toThrow();
  });

  test('of a reservation and its release cancel out, account by account', () => {
    for (const pool of ['green', 'held'] as const) {
      const [given, back] = [shown(reserve({ ...reservation, pool })), shown(release({ ...claimed, [pool]: reservation.amount }))];
      expect(Object.keys(given).sort()).toEqual(Object.keys(back).sort());
      for (const [account, change] of Object.entries(given)) expect(change + (back[account] ?? 0n)).toBe(0n);
    }
  });
});

describe('a refund', () => {
  const part = fc.bigInt({ min: 0n, max: 10n ** 30n });

  test('that cannot be paid leaves every account as it was', () => {
    fc.assert(
      fc.property(part, part, part, (maturing, matured, commission) => {
        const order = { gatewayId: 'g', assetId: 'a', maturing: coins(maturing), matured: coins(matured), commission: coins(commission) };
        const [given, back] = [shown(orderRefund(order)), shown(cancelRefund(order))];
        expect(Object.keys(given).sort()).toEqual(Object.keys(back).sort());
        for (const [account, change] of Object.entries(given)) expect(change + (back[account] ?? 0n)).toBe(0n);
      }),
    );
  });

  test('pays back all that came in but the network fee, whoever bore the commission', () => {
    fc.assert(
      fc.property(part, part, part, fc.boolean(), (kept, networkFee, taken, platform) => {
        const commission = coins(taken);
        const gross = coins(kept + networkFee + (platform ? 0n : taken));
        const net = coins(kept);
        const sums: Record<string, bigint> = {};
        const book = (postings: Posting[]) => {
          for (const [account, change] of Object.entries(shown(postings))) sums[account] = (sums[account] ?? 0n) + change;
        };
        book(
          credit({
            gatewayId: 'g',
            assetId: 'a',
            pool: 'held',
            gross,
            networkFee: coins(networkFee),
            commission,
            net,
            platformBears: coins(platform ? taken : 0n),
          }),
        );
        book(mature({ gatewayId: 'g', assetId: 'a', pool: 'held', amount: net }));
        const back = coins(platform ? net : net + commission);
        book(orderRefund({ gatewayId: 'g', assetId: 'a', maturing: coins(0n), matured: net, commission: coins(platform ? 0n : commission) }));
        book(payRefund({ gatewayId: 'g', assetId: 'a', amount: back, platformCommission: coins(platform ? commission : 0n) }));
        expect(back).toBe(gross - networkFee);
        // All that is left of it in the books is the network fee, which is what the chain still holds of it.
        expect(Object.fromEntries(Object.entries(sums).filter(([, change]) => change !== 0n))).toEqual(
          networkFee === 0n ? {} : { chain: -networkFee, networkFee },
        );
      }),
    );
  });
});

type Act =
  | { kind: 'credit'; gateway: string; asset: string; pool: Pool; gross: bigint; fee: bigint; commission: bigint; platform: boolean }
  | { kind: 'mature'; gateway: string; asset: string; pool: Pool; share: number }
  | { kind: 'reserve'; gateway: string; asset: string; pool: Pool; share: number }
  | { kind: 'settle'; which: number; share: number }
  | { kind: 'release'; which: number; share: number }
  | { kind: 'fund' | 'unallocated' | 'gas' | 'lose' | 'regain'; asset: string; amount: bigint };

const gateway = fc.constantFrom('g1', 'g2');
const asset = fc.constantFrom('usdt', 'eth');
const pool = fc.constantFrom<Pool>('green', 'held');
const units = fc.bigInt({ min: 0n, max: 1_000_000n });
const share = fc.integer({ min: 0, max: 100 });

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('credit' as const), gateway, asset, pool, gross: units, fee: units, commission: units, platform: fc.boolean() }),
    fc.record({ kind: fc.constant('mature' as const), gateway, asset, pool, share }),
    fc.record({ kind: fc.constant('reserve' as const), gateway, asset, pool, share }),
    fc.record({ kind: fc.constant('settle' as const), which: fc.nat(), share }),
    fc.record({ kind: fc.constant('release' as const), which: fc.nat(), share }),
    fc.record({ kind: fc.constantFrom('fund' as const, 'unallocated' as const, 'gas' as const, 'lose' as const, 'regain' as const), asset, amount: units }),
  ),
  { maxLength: 60 },
);

/** Plays a life of a deployment; amounts are cut to what a pool holds, as its lock would. */
function play(script: readonly Act[]) {
  const balances = new Map<string, bigint>();
  const open: { gatewayId: string; assetId: string; pool: Pool; settlementId: string; amount: Coins }[] = [];
  let movedIn = new Map<string, bigint>();
  const held = (kind: string, owner: string, of: string) => balances.get(`${of}/${kind}:${owner}`) ?? 0n;
  const move = (assetId: string, change: bigint) => {
    movedIn = movedIn.set(assetId, (movedIn.get(assetId) ?? 0n) + change);
  };
  const book = (postings: Posting[]) => {
    for (const { account, assetId, amount: change } of postings) {
      const key = `${assetId}/${nameOf(account)}`;
      balances.set(key, (balances.get(key) ?? 0n) + change);
    }
  };
  for (const [i, act] of script.entries()) {
    if (act.kind === 'credit') {
      const fee = act.platform ? act.fee : act.fee < act.gross ? act.fee : act.gross;
      const rest = act.platform ? act.gross : act.gross - fee;
      const commission = act.platform ? act.commission : act.commission < rest ? act.commission : rest;
      const net = act.platform ? act.gross : rest - commission;
      book(
        credit({
          gatewayId: act.gateway,
          assetId: act.asset,
          pool: act.pool,
          gross: coins(act.gross),
          networkFee: coins(fee),
          commission: coins(commission),
          net: coins(net),
          platformBears: coins(act.platform ? fee + commission : 0n),
        }),
      );
      move(act.asset, act.gross);
    } else if (act.kind === 'mature') {
      const available = held(act.pool === 'green' ? 'pending' : 'heldPending', act.gateway, act.asset);
      book(mature({ gatewayId: act.gateway, assetId: act.asset, pool: act.pool, amount: coins((available * BigInt(act.share)) / 100n) }));
    } else if (act.kind === 'reserve') {
      const available = held(act.pool === 'green' ? 'available' : 'held', act.gateway, act.asset);
      const reservation = {
        gatewayId: act.gateway,
        assetId: act.asset,
        pool: act.pool,
        settlementId: `s${i}`,
        amount: coins((available * BigInt(act.share)) / 100n),
      };
      book(reserve(reservation));
      open.push(reservation);
    } else if (act.kind === 'settle' || act.kind === 'release') {
      const reservation = open.splice(act.which % Math.max(1, open.length), 1)[0];
      if (reservation === undefined) continue;
      if (act.kind === 'release')
        book(release({ ...reservation, green: coins(0n), held: coins(0n), withheld: coins(0n), [reservation.pool]: reservation.amount }));
      else {
        const feeLocked = coins((reservation.amount * BigInt(act.share)) / 100n);
        book(settle({ ...reservation, feeLocked }));
        move(reservation.assetId, -(reservation.amount - feeLocked));
      }
    } else {
      book({ fund, unallocated, regain, gas, lose }[act.kind](act.asset, coins(act.amount)));
      move(act.asset, act.kind === 'gas' || act.kind === 'lose' ? -act.amount : act.amount);
    }
  }
  return { balances, movedIn };
}

describe('any sequence of postings', () => {
  test('conserves every asset: all accounts sum to zero', () => {
    fc.assert(
      fc.property(acts, (script) => {
        const sums = new Map<string, bigint>();
        for (const [key, value] of play(script).balances) sums.set(key.split('/')[0] as string, (sums.get(key.split('/')[0] as string) ?? 0n) + value);
        for (const sum of sums.values()) expect(sum).toBe(0n);
      }),
    );
  });

  test('leaves the books equal to the chain: what came in less what went out is minus the chain account', () => {
    fc.assert(
      fc.property(acts, (script) => {
        const { balances, movedIn } = play(script);
        for (const [assetId, moved] of movedIn) expect(-(balances.get(`${assetId}/chain`) ?? 0n)).toBe(moved);
      }),
    );
  });

  test('never takes an account of a gateway below zero, nor leaves a reservation behind once it is resolved', () => {
    fc.assert(
      fc.property(acts, (script) => {
        for (const [key, value] of play(script).balances)
          if (/\/(pending|available|heldPending|held|reserved):/.test(key)) expect({ key, negative: value < 0n }).toEqual({ key, negative: false });
      }),
    );
  });
});

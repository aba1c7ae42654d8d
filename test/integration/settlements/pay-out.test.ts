import { bookedHoldings } from '#test/fixtures/booked-holdings.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { broadcastPayoutJob, dispatchSettlementJob } from '#api/jobs/outbox-jobs.ts';
import type { OutboxLease } from '#api/store/outbox.ts';
import type { JobResult } from '#api/jobs/work.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { listCreditValues } from '#api/store/credit-values.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { formatAmount, parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { assertBooksEqualChain, aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';
import { FULL } from '#test/harness/counts.ts';
import { ownerOf, sendAs } from '#test/harness/sign-as.ts';

/** Runtime code of a contract whose every call reverts, and of one whose every call answers true and does nothing. */
const REVERTS = '0x60006000fd';
const SAYS_TRUE = '0x600160005260206000f3';

let treasury: Treasury;
let shop: Gateway;

beforeEach(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
});
afterEach(async () => {
  try {
    await treasury.mine(2);
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
const contractOf = (symbol: string): string | null => treasury.assets[symbol]?.contract ?? null;
const read = (id: string) => getSettlement(treasury.deps, { gateway: shop, id });
const merchantHolds = (symbol: string): Promise<bigint> => {
  const contract = contractOf(symbol);
  return contract === null ? treasury.chain.balance(MERCHANT) : treasury.chain.tokenBalance(contract, MERCHANT);
};

/** Brings a cashout to the point where its payout has a nonce and waits for the signer. */
async function plan(symbol: string, amount: string): Promise<{ settlementId: string; payoutId: string }> {
  const { id } = await treasury.cashOut(shop, symbol, amount);
  for (let round = 0; round < 10; round++) {
    await dispatchSettlement(treasury.deps, id);
    const [payout] = await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`;
    if (payout !== undefined) return { settlementId: id, payoutId: payout.id };
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
  throw new Error(`settlement ${id} was never planned: ${JSON.stringify(await sql()`select wait_reason from settlements where id = ${id}`)}`);
}

describe('paying a cashout', () => {
  it('sweeps a token deposit with a gas top-up when the hot wallet is empty, pays and settles', async () => {
    const deposit = await treasury.earn(shop, 'USDT', '100');
    const created = await treasury.cashOut(shop, 'USDT', '60');

    await treasury.settleAll();

    const settled = await read(created.id);
    expect(settled).toMatchObject({ status: 'SETTLED', receivedAmount: settled.netAmount });
    expect(parseTrusted(settled.netAmount) + parseTrusted(settled.feeLocked)).toBe(parseTrusted('60'));
    expect(settled.blockchainUrl).toContain(settled.txHash);
    expect(await merchantHolds('USDT')).toBe(toUnits(parseTrusted(settled.netAmount), 6));
    expect(await treasury.chain.tokenBalance(contractOf('USDT') as string, deposit)).toBe(0n);
    const made = await sql()`select purpose, status, parent_id is not null as linked from payouts`;
    expect(made.map((row) => `${row.purpose} ${row.status}${row.linked ? ' linked' : ''}`).sort()).toEqual([
      'settlement CONFIRMED',
      'sweep CONFIRMED',
      'top_up CONFIRMED',
      'top_up CONFIRMED linked',
    ]);
    const rest = parseTrusted('100') - parseTrusted(settled.netAmount);
    expect(formatAmount(await bookedHoldings(sql(), treasury.assets.USDT?.id as string))).toBe(formatAmount(rest));
    const [credit] = await sql()<{ id: string }[]>`select id from credits`;
    expect([...(await listCreditValues(sql(), [credit?.id as string])).values()]).toMatchObject([{ grossUsd: '100.00', spent: '60', spentUsd: '60.00' }]);
  });

  it('pays out everything of a native deposit: the sweep keeps its gas back and the funding wallet makes it up', async () => {
    await treasury.earn(shop, 'ETH', '0.5');
    const created = await treasury.cashOut(shop, 'ETH', '0.4995');
    await treasury.settleAll();
    const settled = await read(created.id);
    expect(settled.status).toBe('SETTLED');
    expect(await merchantHolds('ETH')).toBe(toUnits(parseTrusted(settled.netAmount), 18));
  });

  it('sweeps the largest deposits first and no more of them than it needs', async () => {
    const small = await treasury.earn(shop, 'USDC', '20');
    const large = await treasury.earn(shop, 'USDC', '80');
    await treasury.cashOut(shop, 'USDC', '70');
    await treasury.settleAll();
    const usdc = contractOf('USDC') as string;
    expect(await treasury.chain.tokenBalance(usdc, large)).toBe(0n);
    expect(await treasury.chain.tokenBalance(usdc, small)).toBe(20_000_000n);
  });

  it('pays many cashouts of one asset in the order they were made, with consecutive nonces', async () => {
    await treasury.earn(shop, 'USDT', '100');
    const made: string[] = [];
    for (let i = 0; i < 6; i++) made.push((await treasury.cashOut(shop, 'USDT', '10')).id);
    await treasury.settleAll();
    const rows = await sql()<{ settlementId: string; nonce: number }[]>`select settlement_id, nonce from payouts where purpose = 'settlement' order by nonce`;
    expect(rows.map((row) => row.settlementId)).toEqual(made);
    expect(rows.map((row) => row.nonce)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('does not let a head that cannot be funded hold up another asset', async () => {
    await treasury.earn(shop, 'USDT', '50');
    await treasury.earn(shop, 'USDC', '50');
    const [head] = await sql()<
      { address: string }[]
    >`select a.address from deposit_addresses a join deposits d on d.address_id = a.id where d.asset_id = ${treasury.assets.USDT?.id as string}`;
    // Coins the books count on cannot be moved: their address is halted.
    await treasury.world.database.sql`insert into wallets (id, network_id, role, address, derivation_path, halted_reason)
      select gen_random_uuid(), ${treasury.network.id}, 'deposit', ${head?.address as string}, 'm/44''/60''/0''/0/' || derivation_index, 'by a test' from deposit_addresses where address = ${head?.address as string}`;
    const blocked = await treasury.cashOut(shop, 'USDT', '20');
    const behind = await treasury.cashOut(shop, 'USDT', '5');
    const free = await treasury.cashOut(shop, 'USDC', '20');
    for (let round = 0; round < 10 && (await read(free.id)).status !== 'SETTLED'; round++) {
      await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    expect([(await read(blocked.id)).status, (await read(behind.id)).status, (await read(free.id)).status]).toEqual(['REQUESTED', 'REQUESTED', 'SETTLED']);
    const [row] = await sql()<{ waitReason: string }[]>`select wait_reason from settlements where id = ${blocked.id}`;
    expect(row?.waitReason).toContain('short of');
    await sql()`update wallets set halted_reason = null`;
    await treasury.settleAll();
    expect([(await read(blocked.id)).status, (await read(behind.id)).status]).toEqual(['SETTLED', 'SETTLED']);
  });

  it('plans one payout however many dispatchers run at once, and stores one attempt however many signers do', async () => {
    await treasury.earn(shop, 'USDT', '100');
    const { payoutId } = await plan('USDT', '10');
    const second = await treasury.cashOut(shop, 'USDT', '10');
    await Promise.all(Array.from({ length: 8 }, () => dispatchSettlement(treasury.deps, second.id)));
    expect(await sql()`select nonce from payouts where settlement_id = ${second.id}`).toHaveLength(1);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => signPayout(treasury.deps, treasury.signers, payoutId)));
    expect(outcomes.filter((outcome) => outcome === 'signed')).toHaveLength(1);
    expect(await sql()`select 1 from payout_attempts where payout_id = ${payoutId}`).toHaveLength(1);
    await treasury.settleAll();
  });

  it('is planned and sent in a few places of its network, and asks again later where all of them wait for its nodes', async () => {
    await treasury.earn(shop, 'ETH', '1');
    const { payoutId, settlementId } = await plan('ETH', '0.1');
    await signPayout(treasury.deps, treasury.signers, payoutId);
    const [attempt] = await sql()<{ id: string }[]>`select id from payout_attempts where payout_id = ${payoutId}`;
    const waiting = await treasury.cashOut(shop, 'ETH', '0.1');
    let answer: () => void = () => undefined;
    const silent = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const [[name, chain]] = [...treasury.deps.chains] as [[string, Chain]];
    const slow = async <T>(asked: Promise<T> | T): Promise<T> => silent.then(() => asked);
    const payer = new Proxy(chain.payer, {
      get: (target, member) => {
        const value = Reflect.get(target, member);
        return typeof value === 'function' ? (...args: unknown[]) => slow(value.apply(target, args)) : value;
      },
    });
    const deps: Deps = { ...treasury.deps, chains: new Map([[name, { ...chain, payer }]]) };
    const runs: Promise<unknown>[] = [];
    const begun = { lease: {} as OutboxLease, read: undefined };
    for (const [job, ref] of [
      [broadcastPayoutJob, attempt?.id],
      [dispatchSettlementJob, waiting.id],
    ] as const) {
      const results: JobResult[] = [];
      for (let run = 0; run < POLICY.networkLanes.perTarget + 2; run++) runs.push(job.run(deps, String(ref), begun).then((result) => results.push(result)));
      await waitFor(() => results.length >= 2, { what: `two runs of ${job.topic} that found no place` });
      expect(results).toEqual([{ again: expect.any(Date) }, { again: expect.any(Date) }]);
    }
    answer();
    await Promise.all(runs);
    await treasury.settleAll();
    expect(await read(settlementId)).toMatchObject({ status: 'SETTLED' });
  });

  it('changes nothing when jobs and signer run again after everything is done', async () => {
    await treasury.earn(shop, 'USDT', '30');
    const created = await treasury.cashOut(shop, 'USDT', '10');
    await treasury.settleAll();
    const state = () =>
      sql()`select (select count(*) from payouts) as payouts, (select count(*) from payout_attempts) as attempts, (select count(*) from ledger_transactions) as postings`;
    const before = await state();
    await sql()`update outbox set state = 'due', due_at = sluice_now()`;
    await treasury.work();
    await treasury.sign();
    await dispatchSettlement(treasury.deps, created.id);
    await treasury.mine(3);
    expect(await state()).toEqual(before);
  });
});

describe('when the chain takes something back', () => {
  it('sends the same bytes again after a reorganisation dropped the payout, and pays once', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const { settlementId, payoutId } = await plan('USDT', '20');
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
    const status = async () => (await sql()<{ status: string }[]>`select status from payouts where id = ${payoutId}`)[0]?.status;
    expect(await status()).toBe('INCLUDED');
    await treasury.reorganise(1);
    expect(await status()).toBe('BROADCAST');
    await treasury.settleAll();
    expect((await read(settlementId)).status).toBe('SETTLED');
    expect(await sql()`select 1 from payout_attempts where payout_id = ${payoutId}`).toHaveLength(1);
    expect(await merchantHolds('USDT')).toBe(toUnits(parseTrusted((await read(settlementId)).netAmount), 6));
  });

  it.each([
    ['reverts', REVERTS],
    ['reports success and moves nothing', SAYS_TRUE],
  ])('pays again, once, after a transaction that %s is final', async (_, code) => {
    await treasury.earn(shop, 'USDT', '50');
    const usdt = contractOf('USDT') as string;
    const { settlementId } = await plan('USDT', '20');
    await treasury.sign();
    await treasury.work();
    const real = await treasury.chain.node.call<string>('eth_getCode', [usdt, 'latest']);
    await treasury.chain.node.call('anvil_setCode', [usdt, code]);
    await treasury.mine();
    await treasury.chain.node.call('anvil_setCode', [usdt, real]);
    expect(await sql()`select 1 from payouts where settlement_id = ${settlementId} and family = 2`).toHaveLength(0);
    await treasury.settleAll();
    const settled = await read(settlementId);
    expect(settled.status).toBe('SETTLED');
    expect(await merchantHolds('USDT')).toBe(toUnits(parseTrusted(settled.netAmount), 6));
    const families = await sql()`select family, status from payouts where settlement_id = ${settlementId} and purpose = 'settlement' order by family`;
    expect(families.map((row) => `${row.family} ${row.status}`)).toEqual(['1 FAILED', '2 CONFIRMED']);
  });

  it('waits for an operator after the second failure, still holding the claim', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const usdt = contractOf('USDT') as string;
    const real = await treasury.chain.node.call<string>('eth_getCode', [usdt, 'latest']);
    const { settlementId } = await plan('USDT', '20');
    for (let family = 1; family <= 2; family++) {
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.chain.node.call('anvil_setCode', [usdt, REVERTS]);
      await treasury.mine();
      await treasury.chain.node.call('anvil_setCode', [usdt, real]);
      await treasury.mine(2);
    }
    for (let round = 0; round < 3; round++) {
      await treasury.work();
      await treasury.sign();
      await treasury.mine();
    }
    expect(await sql()`select 1 from payouts where settlement_id = ${settlementId} and purpose = 'settlement'`).toHaveLength(2);
    const [row] = await sql()`select status, wait_reason from settlements where id = ${settlementId}`;
    expect(row).toMatchObject({ status: 'PROCESSING' });
    expect(row?.waitReason).toContain('an operator must decide');
    expect(await merchantHolds('USDT')).toBe(0n);
  });
});

describe('the signer', () => {
  type Change = (payoutId: string) => PromiseLike<unknown>;
  const BAD = '0x00000000000000000000000000000000000bad01';
  const settlementOf = (payoutId: string) => sql()`(select settlement_id from payouts where id = ${payoutId})`;
  const scaleFee = (payoutId: string, factor: string) =>
    sql()`update payouts set plan = jsonb_set(plan, '{fields,maxFeePerGas}', to_jsonb(trunc((plan->'fields'->>'maxFeePerGas')::numeric * ${factor}::text::numeric)::text)) where id = ${payoutId}`;
  const addToAmounts = (payoutId: string, coins: number) =>
    sql()`with p as (update payouts set raw_amount = raw_amount + ${coins * 1_000_000} where id = ${payoutId} returning settlement_id)
      update settlements s set amount = amount + ${coins}, net_amount = net_amount + ${coins} from p where s.id = p.settlement_id`;
  const TAMPERINGS: [what: string, tamper: Change, restore: Change][] = [
    [
      'the destination of the payout',
      (id) => sql()`update payouts set recipient = ${BAD} where id = ${id}`,
      (id) => sql()`update payouts set recipient = ${MERCHANT} where id = ${id}`,
    ],
    [
      'the amount of the payout',
      (id) => sql()`update payouts set raw_amount = raw_amount + 1 where id = ${id}`,
      (id) => sql()`update payouts set raw_amount = raw_amount - 1 where id = ${id}`,
    ],
    [
      'the asset of the payout',
      (id) => sql()`update payouts set asset_id = ${treasury.assets.USDC?.id as string} where id = ${id}`,
      (id) => sql()`update payouts set asset_id = ${treasury.assets.USDT?.id as string} where id = ${id}`,
    ],
    ['the fee fields of the plan', (id) => scaleFee(id, '2'), (id) => scaleFee(id, '0.5')],
    [
      'the purpose of the payout',
      (id) => sql()`update payouts set purpose = 'sweep' where id = ${id}`,
      (id) => sql()`update payouts set purpose = 'settlement' where id = ${id}`,
    ],
    [
      'the destination of the settlement',
      (id) => sql()`update settlements set address = ${BAD} where id = ${settlementOf(id)}`,
      (id) => sql()`update settlements set address = ${MERCHANT} where id = ${settlementOf(id)}`,
    ],
    [
      'the destination of both',
      (id) => sql()`with p as (update payouts set recipient = ${BAD} where id = ${id}) update settlements set address = ${BAD} where id = ${settlementOf(id)}`,
      (id) =>
        sql()`with p as (update payouts set recipient = ${MERCHANT} where id = ${id}) update settlements set address = ${MERCHANT} where id = ${settlementOf(id)}`,
    ],
    [
      'the destination everywhere',
      (id) =>
        sql()`with p as (update payouts set recipient = ${BAD} where id = ${id}), b as (update address_book set address = ${BAD}) update settlements set address = ${BAD} where id = ${settlementOf(id)}`,
      (id) =>
        sql()`with p as (update payouts set recipient = ${MERCHANT} where id = ${id}), b as (update address_book set address = ${MERCHANT}) update settlements set address = ${MERCHANT} where id = ${settlementOf(id)}`,
    ],
    ['the address book', () => sql()`update address_book set address = ${BAD}`, () => sql()`update address_book set address = ${MERCHANT}`],
    ['the amounts of settlement and payout', (id) => addToAmounts(id, 1), (id) => addToAmounts(id, -1)],
    [
      'the path of the wallet',
      () => sql()`update wallets set derivation_path = 'm/44''/60''/1''/0/7' where role = 'hot'`,
      () => sql()`update wallets set derivation_path = ${treasury.network.config.wallets.hot.path} where role = 'hot'`,
    ],
    [
      'the decimals of the asset',
      () => sql()`update assets set decimals = 7 where symbol = 'USDT'`,
      () => sql()`update assets set decimals = 6 where symbol = 'USDT'`,
    ],
  ];

  it('refuses and freezes the network when any row of the order was changed, and signs once all are as they were', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const { payoutId } = await plan('USDT', '20');
    const attempt = () => signPayout(treasury.deps, treasury.signers, payoutId);
    for (const [what, tamper, restore] of TAMPERINGS) {
      await tamper(payoutId);
      expect(await attempt(), what).toBe('refused');
      expect(await sql()`select scope from freezes`, what).toEqual([{ scope: 'network:ethereum' }]);
      await restore(payoutId);
      expect(await attempt(), what).toBe('waiting');
      await sql()`delete from freezes`;
    }
    expect(await sql()`select 1 from payout_attempts where payout_id = ${payoutId}`).toHaveLength(0);
    expect(await attempt()).toBe('signed');
    await treasury.settleAll();
  });

  it('signs nothing while dispatch is frozen, the network is paused or the wallet is halted', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const { payoutId } = await plan('USDT', '20');
    const attempt = () => signPayout(treasury.deps, treasury.signers, payoutId);
    await sql()`insert into freezes (scope, reason) values ('all', 'a test')`;
    expect(await attempt()).toBe('waiting');
    await sql()`delete from freezes`;
    await sql()`update networks set paused_at = now()`;
    expect(await attempt()).toBe('waiting');
    await sql()`update networks set paused_at = null`;
    await sql()`update wallets set halted_reason = 'a test' where role = 'hot'`;
    expect(await attempt()).toBe('waiting');
    await sql()`update wallets set halted_reason = null`;
    expect(await attempt()).toBe('signed');
    await treasury.settleAll();
  });

  it('takes a payout that another signer just signed for signed, not for tampered with', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const { payoutId } = await plan('USDT', '20');
    // The other one is done between this one's first look at the payout and the next.
    let overtaken = false;
    const db = {
      ...treasury.deps.db,
      sql: new Proxy(treasury.deps.db.sql, {
        apply: (target, self, args) => {
          const answer = Reflect.apply(target, self, args) as Promise<unknown>;
          if (overtaken || !String(args[0]).includes('where p.id =')) return answer;
          overtaken = true;
          return answer.then(async (rows) => {
            expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('signed');
            return rows;
          });
        },
      }),
    };
    expect(await signPayout({ ...treasury.deps, db }, treasury.signers, payoutId)).toBe('gone');
    expect(overtaken).toBe(true);
    expect(await sql()`select reason from freezes`).toEqual([]);
    await treasury.settleAll();
  });

  it('hands nothing to a network that was paused after the bytes were signed', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const { payoutId } = await plan('USDT', '20');
    await signPayout(treasury.deps, treasury.signers, payoutId);
    await sql()`update networks set paused_at = now()`;
    await treasury.work();
    expect(await sql()`select status from payouts where id = ${payoutId}`).toEqual([{ status: 'SIGNED' }]);
    await sql()`update networks set paused_at = null`;
    await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
    await treasury.settleAll();
  });

  it('holds the limits per transaction and per hour', async () => {
    await treasury.stop();
    treasury = await aTreasury({ configure: (network) => ({ ...network, limits: { perTransactionUsd: '50', hourlyUsd: '60', dailyUsd: '1000' } }) });
    shop = await treasury.world.aGateway();
    await treasury.earn(shop, 'USDT', '300');
    const over = await treasury.cashOut(shop, 'USDT', '100');
    const first = await treasury.cashOut(shop, 'USDT', '40');
    const second = await treasury.cashOut(shop, 'USDT', '40');
    for (let round = 0; round < 10; round++) {
      await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    expect([(await read(over.id)).status, (await read(first.id)).status, (await read(second.id)).status]).toEqual(['REQUESTED', 'SETTLED', 'REQUESTED']);
    const reasons = await sql()<{ waitReason: string }[]>`select wait_reason from settlements where status = 'REQUESTED' order by created_at`;
    expect(reasons.map((row) => row.waitReason)).toEqual([expect.stringContaining('per transaction'), expect.stringContaining('hourly limit')]);
    await treasury.world.advance(3_700);
    await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
    for (let round = 0; round < 3; round++) {
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.mine(2);
    }
    expect((await read(second.id)).status).toBe('SETTLED');
  });
});

describe('fees', () => {
  /** Raises the fee of a planned payout to this many dollars, as a planner that is not ours any more might. */
  async function inflate(payoutId: string, usd: bigint): Promise<void> {
    const [row] = await sql()<{ gas: string; price: string }[]>`
      select p.plan->'fields'->>'gas' as gas, (select trunc(usd)::text from prices where symbol = 'ETH') as price from payouts p where p.id = ${payoutId}`;
    const gas = BigInt(row?.gas as string);
    const perGas = (usd * 10n ** 18n) / BigInt(row?.price as string) / gas;
    await sql()`
      update payouts set plan = jsonb_build_object('rawFee', ${(gas * perGas).toString()}::text,
        'fields', plan->'fields' || jsonb_build_object('maxFeePerGas', ${perGas.toString()}::text)) where id = ${payoutId}`;
  }
  const planned = async (purpose: string): Promise<string> => {
    const [row] = await sql()<{ id: string }[]>`select id from payouts where purpose = ${purpose} and status = 'PLANNED' and nonce is not null`;
    return row?.id as string;
  };

  it.each(['USDT', 'ETH'])('that are absurd get no nonce, so that a spike does not leave the wallets it hit stuck when it is over (%s)', async (symbol) => {
    const gasCosts = async (gwei: number) => {
      await treasury.chain.node.call('anvil_setNextBlockBaseFeePerGas', [`0x${(BigInt(gwei) * 10n ** 9n).toString(16)}`]);
      await treasury.mine();
    };
    await treasury.earn(shop, symbol, symbol === 'ETH' ? '2' : '50');
    const { id } = await treasury.cashOut(shop, symbol, symbol === 'ETH' ? '1.5' : '20');
    await gasCosts(3_000);
    await dispatchSettlement(treasury.deps, id);
    expect(await sql()`select purpose from payouts where nonce is not null`).toEqual([]);
    await gasCosts(1);
    await treasury.settleAll();
    expect((await read(id)).status).toBe('SETTLED');
  });

  it('that the chain outgrew keep a payout waiting with the same bytes, never new ones, and it is paid once', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const { settlementId, payoutId } = await plan('USDT', '20');
    await treasury.sign();
    for (let block = 0; block < 3; block++) {
      await treasury.chain.node.call('anvil_setNextBlockBaseFeePerGas', ['0x174876e800']);
      await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
      await treasury.work();
      await treasury.mine();
      expect(await sql()`select status from payouts where id = ${payoutId}`).toEqual([{ status: 'BROADCAST' }]);
    }
    await treasury.chain.node.call('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00']);
    await treasury.mine();
    await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
    await treasury.settleAll();
    const settled = await read(settlementId);
    expect(settled.status).toBe('SETTLED');
    expect(await sql()`select 1 from payout_attempts where payout_id = ${payoutId}`).toHaveLength(1);
    expect(await merchantHolds('USDT')).toBe(toUnits(parseTrusted(settled.netAmount), 6));
  });

  it('of sweeps and top-ups count against the hourly limit, so that nobody can burn what we hold in them', async () => {
    await treasury.stop();
    treasury = await aTreasury({ configure: (network) => ({ ...network, limits: { perTransactionUsd: '100', hourlyUsd: '100', dailyUsd: '1000' } }) });
    shop = await treasury.world.aGateway();
    await treasury.earn(shop, 'USDT', '50');
    const { id } = await treasury.cashOut(shop, 'USDT', '20');
    await dispatchSettlement(treasury.deps, id);
    const topUp = await planned('top_up');
    await inflate(topUp, 101n);
    expect(await signPayout(treasury.deps, treasury.signers, topUp)).toBe('waiting');
    await inflate(topUp, 60n);
    expect(await signPayout(treasury.deps, treasury.signers, topUp)).toBe('signed');
    await treasury.work();
    await treasury.mine();
    await dispatchSettlement(treasury.deps, id);
    const sweep = await planned('sweep');
    await inflate(sweep, 60n);
    expect(await signPayout(treasury.deps, treasury.signers, sweep)).toBe('waiting');
    expect(await sql()`select failure from payouts where id = ${sweep}`).toEqual([{ failure: expect.stringContaining('hourly limit') }]);
  });
});

describe('what the books did not order', () => {
  /** Sends from one of our own addresses as its thief would. */
  async function steal(from: string, contract: string | null, rawAmount: bigint): Promise<void> {
    const { node } = treasury.chain;
    const data = `0xa9059cbb${MERCHANT.slice(2).padStart(64, '0')}${rawAmount.toString(16).padStart(64, '0')}`;
    await sendAs(node, ownerOf(from), contract === null ? { to: MERCHANT, value: rawAmount } : { to: contract, data });
  }

  it('books coins put into a wallet from outside as capital', async () => {
    await treasury.chain.payAndMine(treasury.wallet('hot'), contractOf('USDC'), 5_000_000n);
    await treasury.mine(2);
    const rows = await sql()<{ kind: string; balance: string }[]>`
      select kind, trim_scale(balance)::text as balance from ledger_accounts where asset_id = ${treasury.assets.USDC?.id as string} order by kind`;
    expect(rows).toEqual([
      { kind: 'capital', balance: '5' },
      { kind: 'chain', balance: '-5' },
    ]);
  });

  it('halts a wallet that sent something unknown at first sight, pays nothing from it, and books the loss when final', async () => {
    await treasury.earn(shop, 'USDT', '50');
    await treasury.cashOut(shop, 'USDT', '10');
    await treasury.settleAll();
    await steal(treasury.wallet('hot'), contractOf('USDT'), 1_000_000n);
    await treasury.mine();
    const [wallet] = await sql()<{ haltedReason: string }[]>`select halted_reason from wallets where role = 'hot'`;
    expect(wallet?.haltedReason).toContain('is not one of ours');
    const waiting = await treasury.cashOut(shop, 'USDT', '10');
    await treasury.work();
    expect((await read(waiting.id)).status).toBe('REQUESTED');
    await treasury.mine(2);
    const [loss] = await sql()<
      { balance: string }[]
    >`select trim_scale(balance)::text as balance from ledger_accounts where kind = 'loss' and asset_id = ${treasury.assets.USDT?.id as string}`;
    expect(loss?.balance).toBe('-1');
  });

  it('halts a deposit address whose key somebody else used', async () => {
    const deposit = await treasury.earn(shop, 'ETH', '1');
    await steal(deposit, null, 10n ** 17n);
    await treasury.mine(2);
    expect(await sql()`select role from wallets where address = ${deposit} and halted_reason is not null`).toEqual([{ role: 'deposit' }]);
    const waiting = await treasury.cashOut(shop, 'ETH', '0.5');
    await treasury.work();
    expect((await read(waiting.id)).status).toBe('REQUESTED');
  });

  it('notices a nonce the chain used and nobody allocated before it plans another', async () => {
    await treasury.earn(shop, 'USDT', '50');
    await treasury.cashOut(shop, 'USDT', '10');
    await treasury.settleAll();
    await steal(treasury.wallet('hot'), null, 1n);
    await treasury.chain.mine(1);
    // The indexer has not seen it yet; the dispatcher asks the chain itself.
    const next = await treasury.cashOut(shop, 'USDT', '10');
    await treasury.work();
    expect(await sql()`select 1 from payouts where settlement_id = ${next.id} and purpose = 'settlement'`).toHaveLength(0);
    expect(await sql()`select 1 from wallets where role = 'hot' and halted_reason is not null`).toHaveLength(1);
    await treasury.follow();
  });

  it(`settles ${FULL ? 60 : 12} cashouts of three assets together and the books equal the chain`, async () => {
    for (const [symbol, amount] of [
      ['USDT', '120'],
      ['USDT', '80'],
      ['USDC', '150'],
      ['ETH', '1'],
      ['ETH', '0.7'],
    ] as const)
      await treasury.earn(shop, symbol, amount);
    const made: string[] = [];
    for (let i = 0; i < (FULL ? 60 : 12); i++)
      made.push((await treasury.cashOut(shop, ['USDT', 'USDC', 'ETH'][i % 3] as string, i % 3 === 2 ? '0.05' : '3')).id);
    await treasury.settleAll();
    for (const id of made) expect((await read(id)).status).toBe('SETTLED');
  });
});

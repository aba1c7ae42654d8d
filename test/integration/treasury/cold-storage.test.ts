import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '#api/audit/checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { bookedCold } from '#api/ledger/balances.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { rebuildJournal } from '#api/signer/journal/rebuild.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { adoptTransaction } from '#api/operator/adopt.ts';
import { moveExcess } from '#api/treasury/move-excess.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { seedWallets } from '#api/treasury/wallets.ts';
import type { Payer, SignedTransfer } from '#shared/chains/chain.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { formatAmount, parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';

const CEILING = '100';
const FLOOR = '40';
/** Half way between. */
const TARGET = '70';
const NATIVE = { evm: { symbol: 'ETH', ceiling: '1', floor: '0.2', target: '0.6' }, tron: { symbol: 'TRX', ceiling: '3000', floor: '1000', target: '2000' } };

describe.each(['evm', 'tron'] as const)('excess of the hot wallet (%s)', (family) => {
  let treasury: Treasury<CommonChain>;
  let shop: Gateway;
  const native = NATIVE[family];
  beforeAll(async () => {
    // The faucet plays cold storage: its key is in no configuration, and it can pay back.
    treasury = await aTreasuryOf(family, { configure: (network, chain) => withCold(network, chain.faucet) });
    shop = await treasury.world.aGateway();
  });
  afterEach(async () => {
    await treasury.mine(2);
    await treasury.credit();
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  });
  afterAll(() => treasury.stop());

  const withCold = (network: NetworkConfig, address: string): NetworkConfig => ({
    ...network,
    cold: { address },
    // Less than the first moves.
    limits: { ...network.limits, perTransactionUsd: '5000' },
    assets: network.assets.map((asset) => {
      if (asset.symbol === 'USDT') return { ...asset, coldStorage: { ceiling: CEILING, floor: FLOOR } };
      return asset.symbol === native.symbol ? { ...asset, coldStorage: { ceiling: native.ceiling, floor: native.floor } } : asset;
    }),
  });
  const sql = () => treasury.world.database.sql;
  const asset = (symbol = 'USDT') => treasury.assets[symbol] as NonNullable<Treasury['assets'][string]>;
  const raw = (amount: string, symbol = 'USDT') => toUnits(parseTrusted(amount), asset(symbol).decimals) as bigint;
  const hot = (symbol = 'USDT') =>
    asset(symbol).contract === null
      ? treasury.chain.balance(treasury.wallet('hot'))
      : treasury.chain.tokenBalance(asset(symbol).contract as string, treasury.wallet('hot'));
  const cold = async (symbol = 'USDT') => formatAmount(await bookedCold(sql(), asset(symbol).id));
  const capital = async () =>
    (
      await sql()<{ balance: string }[]>`select trim_scale(balance)::text as balance from ledger_accounts where kind = 'capital' and asset_id = ${asset().id}`
    )[0]?.balance ?? '0';
  const moves = () => sql()<{ id: string; status: string; amount: string; recipient: string }[]>`
    select id, status, raw_amount::text as amount, recipient from payouts where purpose = 'cold' order by created_at`;
  const waitReason = async (id: string) =>
    (await sql()<{ reason: string | null }[]>`select wait_reason as reason from settlements where id = ${id}`)[0]?.reason;
  const read = (id: string) => getSettlement(treasury.deps, { gateway: shop, id });
  const linked = (): [string, Chain] => [...treasury.deps.chains][0] as [string, Chain];
  const having = (change: { config?: NetworkConfig; payer?: Payer }): Deps => {
    const [name, chain] = linked();
    return { ...treasury.deps, chains: new Map([[name, { ...chain, ...change }]]) };
  };

  /** Pays a wallet from cold storage, and books it. */
  async function fill(amount: string, symbol = 'USDT', role: 'hot' | 'held' = 'hot'): Promise<void> {
    await treasury.chain.payAndMine(treasury.wallet(role), asset(symbol).contract, raw(amount, symbol));
    await treasury.mine(2);
  }

  /** Brings the hot wallet of USDT to an amount without a move, whatever it holds. */
  async function fillTo(amount: string): Promise<void> {
    const missing = raw(amount) - (await hot());
    if (missing > 0n) await treasury.chain.payAndMine(treasury.wallet('hot'), asset().contract, missing);
    await treasury.mine(2);
  }

  /** Runs the job until it plans a transfer: gas may have to come first. */
  async function plan(): Promise<string> {
    for (let round = 0; round < 8; round++) {
      if ((await moveExcess(treasury.deps)) > 0) return (await moves()).at(-1)?.id as string;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    throw new Error('no move was planned');
  }

  it('goes to cold storage down to half way between ceiling and floor, is booked there, and is held by its fee alone against the caps', async () => {
    await fill('9000');
    await plan();
    expect(await moveExcess(treasury.deps)).toBe(0);
    await treasury.settleAll();
    expect(await moves()).toMatchObject([{ status: 'CONFIRMED', amount: raw('8930').toString() }]);
    expect(await hot()).toBe(raw(TARGET));
    expect([await cold(), await capital()]).toEqual(['8930', '9000']);
    await fill('9000');
    await plan();
    await treasury.settleAll();
    expect(await moves()).toHaveLength(2);
    await fill('20');
    expect(await moveExcess(treasury.deps)).toBe(0);
  });

  it('is held by its fee alone against the caps also by a journal that is rebuilt from the books', async () => {
    const [, chain] = linked();
    const { entries } = await rebuildJournal(sql(), treasury.deps.chains, []);
    const toCold = entries.filter(({ recipient }) => recipient === coldAddress(chain));
    expect(toCold.length).toBeGreaterThan(0);
    expect(toCold.filter(({ leaves }) => leaves)).toEqual([]);
  });

  it('is no excess as long as a cashout has claimed it', async () => {
    await treasury.earn(shop, 'USDT', '120');
    const { id } = await treasury.cashOut(shop, 'USDT', '110');
    await fillTo('190');
    expect(await moveExcess(treasury.deps)).toBe(0);
    await treasury.settleAll();
    expect((await read(id)).status).toBe('SETTLED');
  });

  it('that a cashout claims while the chain is asked is not moved, so that no cashout ever waits for it', async () => {
    await treasury.earn(shop, 'USDT', '150');
    // Gas that has to come first would be reason enough not to move anything.
    await fill(native.floor, native.symbol);
    await fillTo('175');
    let rounds = 0;
    for (let round = 0; round < 6; round++) {
      let claimed: string | undefined;
      const [, chain] = linked();
      const payer: Payer = {
        ...chain.payer,
        estimate: async (intent, coins) => {
          if (intent.contract !== null) claimed ??= (await treasury.cashOut(shop, 'USDT', '20')).id;
          return chain.payer.estimate(intent, coins);
        },
      };
      const planned = await moveExcess(having({ payer }));
      if (claimed === undefined) break;
      rounds += 1;
      expect(planned).toBe(0);
      await dispatchSettlement(treasury.deps, claimed);
      expect((await waitReason(claimed)) ?? '').not.toContain('cold storage');
    }
    expect(rounds).toBeGreaterThan(0);
    await treasury.settleAll();
    const waited = await sql()`select 1 from settlements where status <> 'SETTLED'`;
    expect(waited).toEqual([]);
  });

  it('comes back as a refill, for which a cashout waits and says so, and by itself goes on', async () => {
    const before = parseTrusted(await cold());
    const address = await treasury.earn(shop, 'USDT', '200');
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    for (let round = 0; round < 8 && (await treasury.chain.tokenBalance(asset().contract as string, address)) > 0n; round++) {
      await planSweeps(treasury.deps);
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    await plan();
    await treasury.settleAll();
    expect(await hot()).toBe(raw(TARGET));
    const { id } = await treasury.cashOut(shop, 'USDT', '150');
    await dispatchSettlement(treasury.deps, id);
    expect(await waitReason(id)).toContain(`USDT lie in cold storage: refill the hot wallet ${linked()[1].codec.display(treasury.wallet('hot'))}`);
    const stored = parseTrusted(await cold());
    expect(stored).toBeGreaterThan(before);
    const had = await capital();
    await fill('100');
    expect(parseTrusted(await cold())).toBe(stored - parseTrusted('100'));
    expect(await capital()).toBe(had);
    await treasury.settleAll();
    expect((await read(id)).status).toBe('SETTLED');
  });

  it('that comes back with more than was there is a refill as far as that goes, and put in beyond it', async () => {
    const [stored, had] = [await cold(), await capital()];
    await treasury.chain.payAndMine(treasury.wallet('held'), asset().contract, raw(stored) + raw('7'));
    await treasury.mine(2);
    expect([await cold(), await capital()]).toEqual(['0', formatAmount((parseTrusted<'asset'>(had) + parseTrusted<'asset'>('7')) as never)]);
  });

  it('is signed away to the cold address of the signer alone, from the hot wallet, where the signer has one', async () => {
    await fillTo('300');
    const id = await plan();
    const [move] = (await moves()).filter((one) => one.id === id);
    const { config } = linked()[1];
    const { cold: _, ...without } = config;
    const bare = { ...without, assets: config.assets.map(({ coldStorage: __, ...one }) => one) };
    const refuses = async (deps: Deps, reason: string): Promise<void> => {
      expect(await signPayout(deps, treasury.signers, id)).toBe('refused');
      expect((await sql()<{ reason: string }[]>`delete from freezes returning reason`)[0]?.reason).toContain(reason);
    };
    const to = (recipient: string) => sql()`update payouts set recipient = ${recipient} where id = ${id}`;
    await to(treasury.merchant);
    await refuses(treasury.deps, 'the cold address of the signer’s configuration');
    await to(treasury.wallet('funding'));
    await refuses(treasury.deps, 'the cold address of the signer’s configuration');
    await to(move?.recipient as string);
    await refuses(having({ config: bare }), 'nothing of its asset goes to cold storage');
    await refuses(having({ config: { ...config, cold: { address: treasury.merchant } } }), 'the cold address of the signer’s configuration');
    if (family === 'tron') {
      const wallet = (role: string) =>
        sql()`update payouts set wallet_id = (select id from wallets where role = ${role} and network_id = ${treasury.network.id}) where id = ${id}`;
      await wallet('held');
      await refuses(treasury.deps, 'the cold address of the signer’s configuration');
      await wallet('hot');
    }
    expect(await signPayout(treasury.deps, treasury.signers, id)).toBe('signed');
    await treasury.settleAll();
  });

  it('of native coins leaves gas behind, and pays its own fee', async () => {
    await fill(native.ceiling, native.symbol);
    const before = await hot(native.symbol);
    await plan();
    await treasury.settleAll();
    const [move] = (await moves()).slice(-1);
    const left = await hot(native.symbol);
    expect(move?.status).toBe('CONFIRMED');
    expect(left).toBeGreaterThanOrEqual(raw(native.target, native.symbol));
    expect(left).toBeLessThanOrEqual(before - BigInt(move?.amount as string));
    expect(await cold(native.symbol)).not.toBe('0');
  });

  it('stays while dispatch is frozen or its wallet is halted', async () => {
    await fillTo('300');
    await sql()`insert into freezes (scope, reason) values (${`asset:${asset().id}`}, 'a test')`;
    expect(await moveExcess(treasury.deps)).toBe(0);
    await sql()`delete from freezes`;
    await sql()`update wallets set halted_reason = 'a test' where address = ${treasury.wallet('hot')}`;
    expect(await moveExcess(treasury.deps)).toBe(0);
    await sql()`update wallets set halted_reason = null`;
    await plan();
    await treasury.settleAll();
  });

  it('cannot be where a cashout goes to', async () => {
    await treasury.earn(shop, 'USDT', '20');
    await expect(treasury.cashOut(shop, 'USDT', '10', { address: treasury.chain.faucet })).rejects.toMatchObject({ code: 'validation_error' });
  });

  it.each([
    ['nowhere', () => 'nonsense', 'is not an address'],
    ['a wallet of our own', () => treasury.wallet('held'), 'one of our own'],
    ['a token contract', () => asset().contract as string, 'nothing comes back'],
  ])('is not sent to %s: no process starts with such a cold address', async (_, address, problem) => {
    await expect(seedWallets(having({ config: withCold(linked()[1].config, address()) }))).rejects.toThrow(problem);
  });

  it('is looked after by the audit, which sees a move that is not booked, from another wallet, and more taken out than was there', async () => {
    const rows = async (name: string) =>
      (await runCheck(sql() as never, CHECKS.find((check) => check.name === name) as never, { staticAllowed: true })).rows.length;
    const [topUp] = await sql()<{ id: string }[]>`select id from payouts where purpose = 'top_up' and status = 'CONFIRMED' limit 1`;
    const purpose = (to: string) => sql()`update payouts set purpose = ${to} where id = ${topUp?.id as string}`;
    expect([await rows('A25'), await rows('A30')]).toEqual([0, 0]);
    await purpose('cold');
    expect([await rows('A25'), await rows('A30')]).toEqual([1, 1]);
    await purpose('top_up');
    await sql()`update ledger_accounts set balance = balance + 1000000 where kind = 'cold' and asset_id = ${asset().id}`;
    expect([await rows('A25'), await rows('A30')]).toEqual([0, 1]);
    await sql()`update ledger_accounts set balance = balance - 1000000 where kind = 'cold' and asset_id = ${asset().id}`;
  });

  if (family === 'tron') return;

  it('that went to cold storage without the books is no loss, and its wallet works again by an operator’s word', async () => {
    await fillTo('90');
    const [, chain] = linked();
    const [stored, lost] = [parseTrusted<'asset'>(await cold()), await sql()`select balance from ledger_accounts where kind = 'loss'`];
    const sender = treasury.wallet('hot');
    const intent = { sender, recipient: treasury.chain.faucet.toLowerCase(), contract: asset().contract, rawAmount: raw('20') };
    const quoted = await chain.payer.quote(intent);
    if (!quoted.ok) throw new Error(quoted.rejected);
    const [signer] = [...treasury.signers.values()];
    const nonce = await chain.payer.nonce(sender);
    if (signer === undefined) throw new Error('there is no signer');
    const { signedBytes, txid }: SignedTransfer = await signer.sign(chain.config.wallets.hot.path, { intent, nonce, fields: quoted.quote.fields });
    await chain.payer.broadcast(signedBytes);
    await treasury.mine(3);
    expect(parseTrusted(await cold())).toBe(stored + parseTrusted<'asset'>('20'));
    expect(await sql()`select balance from ledger_accounts where kind = 'loss'`).toEqual(lost);
    const adopt = { txid, as: { lost: false }, reason: 'a test' };
    expect((await treasury.deps.db.transaction((tx) => adoptTransaction(tx, treasury.deps, chain, adopt))).revivedWallets).toHaveLength(1);
  });

  it('is not sent again for an hour after a move that failed for good, and then is', async () => {
    await fillTo('300');
    const id = await plan();
    await treasury.sign();
    await treasury.work();
    const { node } = treasury.chain as unknown as { node: { call(method: string, params: unknown[]): Promise<string> } };
    const code = await node.call('eth_getCode', [asset().contract, 'latest']);
    await node.call('anvil_setCode', [asset().contract, '0x60006000fd']);
    await treasury.mine();
    await node.call('anvil_setCode', [asset().contract, code]);
    await treasury.mine(2);
    expect((await moves()).find((one) => one.id === id)?.status).toBe('FAILED');
    expect(await moveExcess(treasury.deps)).toBe(0);
    await treasury.world.advance(POLICY.coldRestSeconds + 1);
    await treasury.world.setPrice('USDT', '1');
    await plan();
    await treasury.settleAll();
    expect(await hot()).toBe(raw(TARGET));
  });
});

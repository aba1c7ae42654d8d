import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resolveHeldPayment } from '#api/aml/resolve-held-payment.ts';
import { CHECKS } from '#api/audit/checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { adoptOutgoing } from '#api/operator/outgoing.ts';
import { confirmProposal } from '#api/operator/proposals.ts';
import { cancelWithheld, proposeWithheld, showWithheld } from '#api/operator/withheld.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury, type TreasuryFamily, payHeld } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';

const FLAGGED = 90;
const FAMILIES = [
  { family: 'evm', symbol: 'USDT', earned: '30', part: '12.5', to: '0x00000000000000000000000000000000cafe0009' },
  { family: 'tron', symbol: 'USDT', earned: '30', part: '12.5', to: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' },
  { family: 'bitcoin', symbol: 'BTC', earned: '0.3', part: '0.125', to: null },
] as const satisfies readonly { family: TreasuryFamily; symbol: string; earned: string; part: string; to: string | null }[];

describe.each(FAMILIES)('withheld coins ($family)', ({ family, symbol, earned, part, to: given }) => {
  let treasury: Treasury<CommonChain>;
  let shop: Gateway;
  beforeAll(async () => {
    treasury = await aTreasuryOf(family);
    shop = await treasury.world.aGateway({ screening: { enabled: true, credits: 1_000 } });
  });
  afterEach(async () => {
    await treasury.mine(2);
    await treasury.credit();
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  });
  afterAll(() => treasury.stop());

  const sql = () => treasury.world.database.sql;
  const asset = () => treasury.assets[symbol] as NonNullable<Treasury['assets'][string]>;
  const raw = (amount: string) => toUnits(parseTrusted(amount), asset().decimals) as bigint;
  const to = () => given ?? treasury.chain.outsider;
  const holds = (address: string) => {
    const { contract } = asset();
    return contract === null ? treasury.chain.balance(address) : treasury.chain.tokenBalance(contract, address);
  };
  const as = (name: string): Deps => ({ ...treasury.deps, operator: { person: { name }, name: null, clientIp: '127.0.0.1', token: 'named', requestId: null } });
  const call = (id: string, body: object = {}) => ({ params: { id }, query: {}, body });
  const kept = async () => (await showWithheld(treasury.deps, call(shop.id))).data as { items: { withheld: string; final: string; onItsWay: string }[] };
  const balance = async (kind: string) => {
    const [row] = await sql()<
      { sum: string }[]
    >`select coalesce(sum(balance), 0)::text as sum from ledger_accounts where kind = ${kind} and asset_id = ${asset().id}`;
    return raw(row?.sum as string);
  };
  const transfer = async (id: string) => (await sql()`select status, txid, failure from withheld_transfers where id = ${id}`)[0];
  const payouts = () =>
    sql()<{ id: string; status: string; family: number }[]>`select id, status, family from payouts where purpose = 'withheld' order by created_at`;

  /** Coins of a payment that was flagged and withheld. */
  async function withhold(amount: string): Promise<void> {
    const address = await treasury.earn(shop, symbol, amount, FLAGGED);
    const [payment] = await sql()<{ id: string }[]>`select payment_id as id from deposit_addresses where address = ${address}`;
    await resolveHeldPayment(treasury.deps, { paymentId: payment?.id as string, resolution: { action: 'WITHHOLD' }, reason: 'a test' });
  }

  /** Two people send them somewhere. */
  async function order(amount: string): Promise<string> {
    const proposed = await proposeWithheld(as('anna'), call(shop.id, { assetId: asset().id, amount, address: to(), reason: 'a court order' }));
    const confirmed = await confirmProposal(as('ben'), call((proposed.data as { id: string }).id));
    return (confirmed.data as { outcome: { transferId: string } }).outcome.transferId;
  }

  /** Plays everybody until the next payout of withheld coins is planned and can be signed. */
  async function planned(): Promise<string> {
    for (let round = 0; round < 15; round++) {
      await payHeld(treasury.deps);
      const [found] = await sql()<{ id: string }[]>`select id from payouts where purpose = 'withheld' and status = 'PLANNED' and plan ? 'rawFee'`;
      if (found !== undefined) return found.id;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    throw new Error('no payout was planned');
  }

  it('leave the held wallet for where two people send them, and the account by just that much', async () => {
    await withhold(earned);
    const [held, before] = [await balance('withheld'), await holds(to())];
    const id = await order(part);
    expect(await balance('withheld'), 'nothing has left yet').toBe(held);
    expect((await kept()).items).toMatchObject([{ onItsWay: part }]);
    await planned();
    await treasury.settleAll();
    await treasury.mine(2);
    expect(await transfer(id)).toMatchObject({ status: 'paid', failure: null });
    expect((await holds(to())) - before).toBe(raw(part));
    expect(held - (await balance('withheld'))).toBe(raw(part));
    expect((await kept()).items).toMatchObject([{ onItsWay: '0' }]);
    expect(await sql()`select w.role from payouts p join wallets w on w.id = p.wallet_id where p.purpose = 'withheld'`).toEqual([{ role: 'held' }]);
    expect(await payHeld(treasury.deps)).toBe(0);
  });

  it('that are on their way are not taken back', async () => {
    const id = await order(symbol === 'BTC' ? '0.02' : '2');
    await planned();
    expect(await cancelWithheld(as('anna'), call(id, { reason: 'x' })).catch((error: Error) => error.message)).toMatch(/may still be paid/);
    await treasury.settleAll();
    expect(await cancelWithheld(as('anna'), call(id, { reason: 'x' })).catch((error: Error) => error.message)).toMatch(/is paid already/);
  });

  it('are signed away only as two people said: no changed row, and no row alone, moves any', async () => {
    const id = await order(part);
    const payoutId = await planned();
    const refuses = async (change: PromiseLike<unknown>, restore: () => PromiseLike<unknown>): Promise<void> => {
      await change;
      expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('refused');
      expect(await sql()`delete from freezes returning scope`).toEqual([{ scope: `network:${treasury.network.config.name}` }]);
      await restore();
    };
    const column = (name: string, value: string) => sql()`update withheld_transfers set ${sql()(name)} = ${value}::text where id = ${id}`;
    const [was] = await sql()<{ recipient: string; by: string }[]>`select recipient, confirmed_by as by from withheld_transfers where id = ${id}`;
    await refuses(column('recipient', treasury.merchant), () => column('recipient', was?.recipient as string));
    await refuses(column('confirmed_by', 'carol'), () => column('confirmed_by', was?.by as string));
    const amount = (by: string) => sql()`update withheld_transfers set amount = amount * ${by}::text::numeric where id = ${id}`;
    await refuses(amount('0.5'), () => amount('2'));
    // A row of its own, as whoever writes the database would make it.
    const forged = randomUUID();
    await sql()`
      insert into withheld_transfers (id, gateway_id, asset_id, network_id, recipient, amount, reason, proposed_by, confirmed_by, intent_mac)
      select ${forged}, gateway_id, asset_id, network_id, recipient, amount, reason, proposed_by, confirmed_by, intent_mac from withheld_transfers where id = ${id}`;
    const link = (transferId: string) => sql()`update withheld_payouts set transfer_id = ${transferId} where payout_id = ${payoutId}`;
    await refuses(link(forged), () => link(id));
    await sql()`delete from withheld_transfers where id = ${forged}`;
    await treasury.settleAll();
    expect(await transfer(id)).toMatchObject({ status: 'paid' });
  });

  it('that nothing is planned for are kept again when somebody says so', async () => {
    const id = await order(symbol === 'BTC' ? '0.01' : '1');
    const before = await balance('withheld');
    await cancelWithheld(as('anna'), call(id, { reason: 'the wrong court' }));
    expect(await transfer(id)).toMatchObject({ status: 'failed', failure: 'cancelled: the wrong court' });
    expect([await balance('withheld'), await payHeld(treasury.deps)]).toEqual([before, 0]);
  });

  it('are looked after by the audit, which sees a transfer that was not paid as it says', async () => {
    const rows = async () => (await runCheck(sql() as never, CHECKS.find((check) => check.name === 'A32') as never, { staticAllowed: true })).rows.length;
    const [paid] = await sql()<{ id: string; txid: string }[]>`select id, txid from withheld_transfers where status = 'paid' limit 1`;
    expect(await rows()).toBe(0);
    await sql()`update withheld_transfers set txid = 'another' where id = ${paid?.id as string}`;
    expect(await rows()).toBe(1);
    await sql()`update withheld_transfers set txid = ${paid?.txid as string} where id = ${paid?.id as string}`;
    await sql()`update withheld_transfer_credits set amount = amount / 2 where transfer_id = ${paid?.id as string}`;
    expect(await rows()).toBe(1);
    await sql()`update withheld_transfer_credits set amount = amount * 2 where transfer_id = ${paid?.id as string}`;
  });

  it('can all be sent, to the last unit', async () => {
    const rest = (await kept()).items[0]?.withheld as string;
    const before = await holds(to());
    const id = await order(rest);
    await treasury.settleAll();
    await treasury.mine(2);
    expect(await transfer(id)).toMatchObject({ status: 'paid' });
    expect([(await holds(to())) - before, await balance('withheld')]).toEqual([raw(rest), 0n]);
  });

  if (family === 'bitcoin') return;

  it('that left by a transaction which the books lost are adopted: sent once, and by nothing else', async () => {
    await withhold(earned);
    const id = await order(part);
    // The payout that was planned for it holds the nonce that the lost transaction has used; where there are none, nothing is planned yet.
    const chain = [...treasury.deps.chains.values()][0] as NonNullable<ReturnType<Deps['chains']['get']>>;
    for (let round = 0; round < 6 && (await holds(treasury.wallet('held'))) < raw(part); round++) {
      await payHeld(treasury.deps);
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    const open = async () => (await payouts()).filter(({ status }) => !['CONFIRMED', 'FAILED', 'CANCELLED'].includes(status)).length;
    if (family === 'tron') await sql()`update payouts set status = 'CANCELLED' where purpose = 'withheld' and status = 'PLANNED'`;
    expect(await open()).toBeLessThan(2);
    const sender = treasury.wallet('held');
    const intent = { sender, recipient: given as string, contract: asset().contract, rawAmount: raw(part) };
    const parsed = chain.codec.parse(given as string);
    if (parsed.ok) intent.recipient = parsed.canonical;
    const answer = await chain.payer.quote(intent);
    if (!answer.ok) throw new Error(answer.rejected);
    const { path } = chain.config.wallets.held;
    const nonce = await chain.payer.nonce(sender);
    const signed = await treasury.signers.get(treasury.network.config.name)?.sign(path, { intent, nonce, fields: answer.quote.fields });
    expect(await chain.payer.broadcast(signed?.signedBytes as Uint8Array)).toMatchObject({ accepted: true });
    await treasury.mine(4);
    const adopt = (more: object): Promise<unknown> =>
      adoptOutgoing(as('anna'), {
        params: {},
        query: {},
        body: { network: treasury.network.config.name, txid: signed?.txid, reason: 'a test', ...more },
      }).catch((error: ServiceError) => error.message);
    expect(await adopt({ lost: true }), 'it would be sent again').toContain(id);
    expect(await adopt({ withheldId: randomUUID() })).toContain('is not a transfer');
    expect(await adopt({ withheldId: id })).toMatchObject({ data: { settlementId: null, unknownLeft: 0 } });
    expect(await transfer(id)).toMatchObject({ status: 'paid', txid: signed?.txid });
    const before = await holds(to());
    await treasury.settleAll();
    expect([await open(), await holds(to())]).toEqual([0, before]);
  });

  if (family !== 'evm') return;

  it('are tried once more after a failed inclusion, and kept as before after a second one', async () => {
    await withhold(earned);
    const before = await balance('withheld');
    const id = await order(part);
    const node = (treasury.chain as unknown as { node: { call(method: string, params: unknown[]): Promise<string> } }).node;
    const code = await node.call('eth_getCode', [asset().contract, 'latest']);
    const made = (await payouts()).length;
    for (const attempt of [1, 2]) {
      await planned();
      await treasury.sign();
      await treasury.work();
      await node.call('anvil_setCode', [asset().contract, '0x60006000fd']);
      await treasury.mine();
      await node.call('anvil_setCode', [asset().contract, code]);
      await treasury.mine(2);
      expect((await payouts()).slice(made).map(({ status }) => status)).toEqual(Array.from({ length: attempt }, () => 'FAILED'));
    }
    expect(await transfer(id)).toMatchObject({ status: 'failed', failure: expect.stringContaining('failed on the chain') });
    expect([await balance('withheld'), await payHeld(treasury.deps)]).toEqual([before, 0]);
    expect((await kept()).items).toMatchObject([{ onItsWay: '0' }]);
  });
});

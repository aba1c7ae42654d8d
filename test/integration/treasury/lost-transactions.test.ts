import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Deps, Gateway } from '#api/deps.ts';
import { clearHaltedWallet } from '#api/operator/clear-wallet.ts';
import { showFreezes } from '#api/operator/freeze.ts';
import { adoptOutgoing, showUnknownOutgoing } from '#api/operator/outgoing.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { activateById } from '#api/settlements/activate-parked.ts';
import { rejectSettlement } from '#api/settlements/reject.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { findUnspent } from '#api/store/outputs.ts';
import { nameOf, outpointOf } from '#api/payouts/rules/spending.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { formatAmount, fromUnits, parseTrusted, toUnits } from '#shared/core/money.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury, type TreasuryFamily } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import type { EvmNode } from '#ops/dev/services/evm-node.ts';
import { ownerOf, sendAs, stranger } from '#test/harness/sign-as.ts';

const FAMILIES = [
  { family: 'evm', symbol: 'USDT', hot: '100', paid: '12' },
  { family: 'tron', symbol: 'USDT', hot: '1000', paid: '120' },
  { family: 'bitcoin', symbol: 'BTC', hot: '1', paid: '0.12' },
] as const satisfies readonly { family: TreasuryFamily; symbol: string; hot: string; paid: string }[];

let treasury: Treasury<CommonChain>;
let shop: Gateway;
let symbol: string;

/** Opens it with coins on the hot wallet, from which transactions go out that the books know nothing of. */
async function open({ family, symbol: traded, hot }: (typeof FAMILIES)[number]): Promise<void> {
  treasury = await aTreasuryOf(family);
  symbol = traded;
  shop = await treasury.world.aGateway({ cashout: { enabled: true, allowlist: ['127.0.0.1'], parkingEnabled: true } });
  const { contract } = asset();
  await treasury.chain.payAndMine(treasury.wallet('hot'), contract, raw(hot));
  if (contract !== null) await treasury.chain.payAndMine(treasury.wallet('hot'), null, 10n ** BigInt(family === 'tron' ? 9 : 18));
  await treasury.mine(3);
}

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
const asset = () => treasury.assets[symbol] as NonNullable<Treasury['assets'][string]>;
const raw = (amount: string): bigint => toUnits(parseTrusted(amount), asset().decimals) as bigint;
const chainOf = () => [...treasury.deps.chains.values()][0] as NonNullable<ReturnType<Deps['chains']['get']>>;
const family = () => treasury.network.config.family;
const network = () => treasury.network.config.name;
const call = (body: object) => ({ params: {}, query: {}, body });
const as = (): Deps => ({
  ...treasury.deps,
  operator: { person: { name: 'anna' }, name: null, clientIp: '127.0.0.1', token: 'named', requestId: null },
});
const adopt = (txid: string, more: object = {}) => adoptOutgoing(as(), call({ network: network(), txid, reason: 'a test', ...more }));
const clear = (wallet: string) => clearHaltedWallet(as(), call({ network: network(), wallet, reason: 'a test' }));
const problem = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'done',
    (error: ServiceError) => `${error.code}: ${error.message}`,
  );
const status = async (id: string): Promise<string> => (await getSettlement(treasury.deps, { gateway: shop, id })).status;
const halted = async () =>
  ((await showFreezes(treasury.deps)).data as { haltedWallets: { role: string; unexplained: string[]; clearable: boolean; reason: string }[] }).haltedWallets;
const payouts = (settlementId: string) => sql()<{ id: string; status: string; family: number; nonce: number | null; anchor: string | null }[]>`
  select id, status, family, nonce, anchor from payouts where settlement_id = ${settlementId} and purpose = 'settlement' order by created_at, id`;
const received = async (): Promise<bigint> => {
  const { contract } = asset();
  return contract === null ? treasury.chain.balance(treasury.merchant) : treasury.chain.tokenBalance(contract, treasury.merchant);
};

/** Has the hot wallet's key sign something that no row tells of, and mines it until it is final and booked. */
async function lost(move: { recipient: string; contract: string | null; rawAmount: bigint }, over: { nonce?: number; inputs?: string } = {}): Promise<string> {
  const chain = chainOf();
  const sender = treasury.wallet('hot');
  const intent = { sender, ...move };
  const spendable = family() === 'bitcoin' ? await findUnspent(sql(), chain.id, await hotOutputs()) : undefined;
  const answer = await chain.payer.quote(intent, spendable);
  if (!answer.ok) throw new Error(answer.rejected);
  const fields = over.inputs === undefined ? answer.quote.fields : { ...answer.quote.fields, inputs: over.inputs, change: '' };
  const nonce = over.nonce ?? (await chain.payer.nonce(sender));
  const from = over.inputs?.split(':')[3] ?? sender;
  const path = await pathOf(from);
  const signed = await treasury.signers.get(network())?.sign(path, { intent: { ...intent, sender: from }, nonce, fields, paths: { [from]: path } });
  const sent = await chain.payer.broadcast(signed?.signedBytes as Uint8Array);
  expect(sent).toMatchObject({ accepted: true });
  await treasury.mine(4);
  return signed?.txid as string;
}

/** Where the key of the hot wallet, or of a deposit address, is. */
async function pathOf(address: string): Promise<string> {
  const { config } = chainOf();
  if (address === treasury.wallet('hot')) return config.wallets.hot.path;
  const [row] = await sql()<{ index: number }[]>`select derivation_index as index from deposit_addresses where address = ${address}`;
  return `${config.accountPath}/0/${row?.index}`;
}

async function hotOutputs() {
  const rows = await sql()<{ name: string }[]>`
    select g.txid || ':' || g.ordinal as name from sightings g where g.kind = 'native' and g.canonical and g.recipient = ${treasury.wallet('hot')}`;
  return rows.map(({ name }) => outpointOf(name));
}

describe.each(FAMILIES)('a transaction that the books lost paid a cashout that is parked in them ($family)', (given) => {
  beforeEach(() => open(given));

  it('it is settled by that, out of what its gateway has, and never paid again; until then it is refused, naming what is missing', async () => {
    const id = (await treasury.cashOut(shop, symbol, given.paid)).id;
    expect(await status(id)).toBe('UNDERFUNDED');
    const fee = raw(given.paid) / 20n;
    const txid = await lost({ recipient: treasury.merchant, contract: asset().contract, rawAmount: raw(given.paid) - fee });
    expect((await showUnknownOutgoing(treasury.deps)).data).toMatchObject({ items: [{ txid, mayHavePaid: [{ settlementId: id, status: 'UNDERFUNDED' }] }] });
    expect(await problem(adopt(txid, { settlementId: id }))).toContain(`${given.paid} ${symbol}`);
    expect(await problem(adopt(txid, { settlementId: id }))).toMatch(/^conflict: .* are missing\. What left stays booked as lost/);
    expect(await problem(adopt(txid, { lost: true })), 'it would be paid again').toContain(id);
    expect(await problem(adopt(txid, { settlementId: randomUUID() }))).toContain('is not a cashout');
    expect(await status(id)).toBe('UNDERFUNDED');

    await treasury.earn(shop, symbol, String(Number(given.paid) * 2));
    const both = await Promise.all([problem(adopt(txid, { settlementId: id })), problem(adopt(txid, { settlementId: id }))]);
    expect(both.filter((one) => one === 'done')).toHaveLength(1);
    expect(await getSettlement(treasury.deps, { gateway: shop, id })).toMatchObject({
      status: 'SETTLED',
      netAmount: formatAmount(fromUnits(raw(given.paid) - fee, asset().decimals)),
    });
    expect(await halted()).toEqual([]);
    const before = await received();
    await treasury.settleAll();
    expect(await received()).toBe(before);
  });

  it('it is settled by that too when it has claimed anew since, at another fee', async () => {
    const id = (await treasury.cashOut(shop, symbol, given.paid)).id;
    const rawAmount = raw(given.paid) - raw(given.paid) / 20n;
    const txid = await lost({ recipient: treasury.merchant, contract: asset().contract, rawAmount });
    await treasury.earn(shop, symbol, String(Number(given.paid) * 2));
    expect(await activateById(treasury.deps, id)).toBe('REQUESTED');
    // The wallet is halted: nothing is paid a second time meanwhile.
    await treasury.work();
    await treasury.sign();
    expect(await received()).toBe(rawAmount);
    await adopt(txid, { settlementId: id });
    expect(await status(id)).toBe('SETTLED');
    await treasury.settleAll();
    expect(await received()).toBe(rawAmount);
  });
});

describe('a close that the books lost, of a payout that is open in them (evm)', () => {
  beforeEach(() => open(FAMILIES[0]));

  /** Dispatches a cashout until its payout holds a nonce. */
  async function planned(): Promise<{ settlementId: string; nonce: number; payoutId: string }> {
    await treasury.earn(shop, symbol, '50');
    const settlementId = (await treasury.cashOut(shop, symbol, '20')).id;
    await dispatchSettlement(treasury.deps, settlementId);
    const [payout] = await payouts(settlementId);
    return { settlementId, payoutId: payout?.id as string, nonce: payout?.nonce as number };
  }
  const close = (nonce: number) => lost({ recipient: treasury.wallet('hot'), contract: null, rawAmount: 0n }, { nonce });

  it.each(['planned', 'signed'])('ends it when it was %s, and what it was for is paid once, with another nonce', async (how) => {
    const { settlementId, payoutId, nonce } = await planned();
    // Signed, and never handed over: what was lost came first.
    if (how === 'signed') expect(await treasury.sign()).toEqual(['signed']);
    const txid = await close(nonce);
    expect((await halted()).map(({ role, unexplained, clearable }) => [role, unexplained, clearable])).toEqual([['hot', [txid], false]]);
    expect(await problem(clear('hot'))).toContain(txid);

    const adopted = (await adopt(txid, { close: true })).data as { endedPayouts: string[]; revivedWallets: string[] };
    expect([adopted.endedPayouts, adopted.revivedWallets]).toEqual([[payoutId], [treasury.wallet('hot')]]);
    await treasury.settleAll();
    expect((await payouts(settlementId)).map((one) => one.status)).toEqual([how === 'planned' ? 'CANCELLED' : 'FAILED', 'CONFIRMED']);
    expect((await payouts(settlementId)).map((one) => one.family)).toEqual([1, how === 'planned' ? 1 : 2]);
    const { netAmount } = await getSettlement(treasury.deps, { gateway: shop, id: settlementId });
    expect([await status(settlementId), await received()]).toEqual(['SETTLED', raw(netAmount as string)]);
    expect(await sql()`select scope from freezes`).toEqual([]);
  });

  it('is not made up for while the signer cannot see it: a payout that failed without its nonce being used is paid no second time', async () => {
    const { settlementId, payoutId } = await planned();
    expect(await treasury.sign()).toEqual(['signed']);
    // Somebody writes that it is dead, and that another one may be made.
    await sql()`update payouts set status = 'FAILED', final_at = sluice_now(), plan = plan || '{"repay":true}' where id = ${payoutId}`;
    await dispatchSettlement(treasury.deps, settlementId);
    const [, second] = await payouts(settlementId);
    expect(second).toMatchObject({ family: 2, status: 'PLANNED' });
    expect(await treasury.sign()).toEqual(['refused']);
    expect((await sql()`delete from freezes returning reason`)[0]?.reason).toContain('not final on the chain');
    await sql()`update payouts set status = 'CANCELLED' where id = ${second?.id as string}`;
    await sql()`update payouts set status = 'SIGNED', final_at = null, plan = plan - 'repay' where id = ${payoutId}`;
    await treasury.settleAll();
  });

  it('may be left to an operator after a second payout: the cashout can be rejected, and nothing was paid', async () => {
    const { settlementId, nonce } = await planned();
    await treasury.sign();
    await adopt(await close(nonce), { close: true });
    await dispatchSettlement(treasury.deps, settlementId);
    const [, second] = await payouts(settlementId);
    expect(await treasury.sign()).toEqual(['signed']);
    await adopt(await close(second?.nonce as number), { close: true });
    expect((await payouts(settlementId)).map((one) => one.status)).toEqual(['FAILED', 'FAILED']);
    expect(await status(settlementId)).toBe('PROCESSING');
    await rejectSettlement(treasury.deps, { id: settlementId, reason: 'a test' });
    expect([await status(settlementId), await received()]).toEqual(['REJECTED', 0n]);
  });

  it('is taken for nothing that it is not', async () => {
    const { nonce, settlementId } = await planned();
    const other = await lost({ recipient: treasury.chain.outsider, contract: asset().contract, rawAmount: 5n }, { nonce });
    expect(await problem(adopt(other, { close: true }))).toMatch(/^validation_error: close: moves nothing away/);
    // Coins that left are lost; the payout whose nonce they took is made anew all the same.
    expect((await adopt(other, { lost: true })).data).toMatchObject({ endedPayouts: [expect.any(String)] });
    await treasury.settleAll();
    expect(await status(settlementId)).toBe('SETTLED');
    const idle = await lost({ recipient: treasury.wallet('hot'), contract: null, rawAmount: 0n });
    expect(await problem(adopt(idle, { close: true }))).toMatch(/^validation_error: close: uses up the nonce/);
    await adopt(idle);
  });
});

describe('a close that the books lost, of a payout that is open in them (bitcoin)', () => {
  beforeEach(() => open(FAMILIES[2]));

  it.each(['planned', 'signed'])('ends it when it was %s, and what it was for is paid once, with other outputs', async (how) => {
    await treasury.earn(shop, symbol, '0.5');
    const settlementId = (await treasury.cashOut(shop, symbol, '0.2')).id;
    await dispatchSettlement(treasury.deps, settlementId);
    const [payout] = await payouts(settlementId);
    if (how === 'signed') expect(await treasury.sign()).toEqual(['signed']);
    const [anchor] = await findUnspent(sql(), chainOf().id, [outpointOf(payout?.anchor as string)]);
    if (anchor === undefined) throw new Error('its anchor is gone');
    const rawAmount = anchor.rawAmount - 2_000n;
    const inputs = `${nameOf(anchor)}:${anchor.rawAmount}:${anchor.address}`;
    const txid = await lost({ recipient: treasury.wallet('hot'), contract: null, rawAmount }, { inputs });
    const adopted = (await adopt(txid, { close: true })).data as { endedPayouts: string[] };
    expect(adopted.endedPayouts).toEqual([payout?.id]);
    await treasury.settleAll();
    expect((await payouts(settlementId)).map((one) => one.status)).toEqual([how === 'planned' ? 'CANCELLED' : 'FAILED', 'CONFIRMED']);
    const { netAmount } = await getSettlement(treasury.deps, { gateway: shop, id: settlementId });
    expect([await status(settlementId), await received()]).toEqual(['SETTLED', raw(netAmount as string)]);
  });
});

describe('a wallet that was halted', () => {
  beforeEach(() => open(FAMILIES[0]));

  const THIEF = stranger('thief');
  const node = (): EvmNode => (treasury.chain as unknown as { node: EvmNode }).node;
  async function send(from: string, to: string, data: string): Promise<void> {
    await node().call('anvil_setBalance', [from, `0x${(10n ** 18n).toString(16)}`]);
    await sendAs(node(), from === THIEF.address.toLowerCase() ? THIEF : ownerOf(from), { to, data });
    await treasury.chain.mine(1);
    await treasury.follow();
  }
  const word = (text: string): string => text.replace('0x', '').padStart(64, '0');

  it('by an allowance that somebody used is cleared once what left is booked, and not a block earlier', async () => {
    const token = asset().contract as string;
    const thief = THIEF.address.toLowerCase();
    // Whatever allowance there is, the books cannot see it: what takes coins by it is the thief's transaction.
    await allow(token, treasury.wallet('hot'), thief);
    await send(thief, token, `0x23b872dd${word(treasury.wallet('hot'))}${word(thief)}${word(`0x${raw('7').toString(16)}`)}`);
    expect(await treasury.chain.tokenBalance(token, thief)).toBe(raw('7'));
    const [stopped] = await halted();
    expect([stopped?.role, stopped?.clearable, stopped?.unexplained.length]).toEqual(['hot', false, 1]);
    expect(await problem(clear('hot'))).toMatch(/^conflict: The books do not know 0x/);
    await treasury.mine(3);
    expect((await halted()).map(({ role, clearable }) => [role, clearable])).toEqual([['hot', true]]);
    expect((await clear('hot')).data).toMatchObject({
      role: 'hot',
      address: expect.stringMatching(/^0x/),
      wasHaltedFor: expect.stringContaining('is not one of ours'),
    });
    expect(await halted()).toEqual([]);
    await treasury.mine(2);
    expect(await halted(), 'it stays cleared').toEqual([]);
    expect(await problem(clear('hot'))).toBe('conflict: The wallet is not halted.');
    const [logged] = await sql()`select action, reason, person, details->>'halted' as halted from operator_actions order by id desc limit 1`;
    expect(logged).toMatchObject({ action: 'wallet.clear', reason: 'a test', person: 'anna', halted: expect.stringContaining('is not one of ours') });
  });

  it('for a transaction that did something else than was meant may be cleared, but not while another one is unknown', async () => {
    await sql()`update wallets set halted_reason = 'transaction 0x00: it moved something else than was meant' where role = 'hot'`;
    const txid = await lost({ recipient: treasury.chain.outsider, contract: asset().contract, rawAmount: raw('3') });
    expect(await problem(clear('hot'))).toContain(txid);
    expect(await problem(clear(treasury.wallet('hot')))).toContain(txid);
    await adopt(txid, { lost: true });
    expect(
      (await halted()).map(({ clearable }) => clearable),
      'adopting clears only what was halted for it',
    ).toEqual([true]);
    await clear(treasury.wallet('hot'));
    await treasury.earn(shop, symbol, '50');
    const id = (await treasury.cashOut(shop, symbol, '20')).id;
    await treasury.settleAll();
    expect(await status(id)).toBe('SETTLED');
  });

  it('is not cleared beside a block that is being applied, however the two come together', async () => {
    await sql()`update wallets set halted_reason = 'transaction 0x00: it moved something else than was meant' where role = 'hot'`;
    const chain = chainOf();
    const intent = { sender: treasury.wallet('hot'), recipient: treasury.chain.outsider, contract: asset().contract, rawAmount: raw('1') };
    const answer = await chain.payer.quote(intent);
    if (!answer.ok) throw new Error(answer.rejected);
    const nonce = await chain.payer.nonce(intent.sender);
    const signed = await treasury.signers.get(network())?.sign(chain.config.wallets.hot.path, { intent, nonce, fields: answer.quote.fields });
    await chain.payer.broadcast(signed?.signedBytes as Uint8Array);
    await treasury.chain.mine(1);
    await Promise.all([treasury.follow(), problem(clear('hot'))]);
    await treasury.mine(1);
    expect((await halted()).map(({ role }) => role)).toEqual(['hot']);
    await treasury.mine(3);
    await adopt(signed?.txid as string, { lost: true });
    if ((await halted()).length > 0) await clear('hot');
  });

  it('is cleared only where network, wallet and reason are named rightly', async () => {
    const wrong = { network: 'atlantis', wallet: 'cold', reason: '' };
    for (const [field, value] of [...Object.entries(wrong), ['wallet', treasury.chain.outsider] as const]) {
      const asked = clearHaltedWallet(as(), call({ network: network(), wallet: 'hot', reason: 'a test', [field]: value }));
      expect(await problem(asked)).toMatch(new RegExp(`^validation_error: ${field}: `));
    }
  });

  /** Lets somebody spend all of a token that another one holds, as the token keeps it: `allowance` is the first mapping of mappings there is. */
  async function allow(token: string, owner: string, spender: string): Promise<void> {
    const { keccak256 } = await import('viem');
    const all = `0x${'f'.repeat(64)}`;
    for (let at = 0; at < 12; at++) {
      const slot = keccak256(`0x${word(spender)}${word(keccak256(`0x${word(owner)}${word(`0x${at.toString(16)}`)}`))}`);
      const before = await node().call('eth_getStorageAt', [token, slot, 'latest']);
      await node().call('anvil_setStorageAt', [token, slot, all]);
      if ((await node().call('eth_call', [{ to: token, data: `0xdd62ed3e${word(owner)}${word(spender)}` }, 'latest'])) === all) return;
      await node().call('anvil_setStorageAt', [token, slot, before]);
    }
    throw new Error('the token keeps its allowances somewhere else');
  }
});

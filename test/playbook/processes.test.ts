import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { journalPath } from '#api/signer/journal/signer-journal.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { openSigners } from '#api/signer/start.ts';
import { aTreasury, type Treasury } from '#test/fixtures/treasury.ts';
import { TEST_SEED } from '#test/harness/world.ts';
import { withoutRules } from './rewrite-books.ts';

const THIEF = '0x90f79bf6eb2c4f870365e785982e1f101e93b906';
const CAPS = { perTransaction: '50', hourly: '90', daily: '200', floorUsd: '0.9' };

let treasury: Treasury;
let shop: Gateway;
beforeEach(async () => {
  treasury = await aTreasury({ configure: (network) => ({ ...network, assets: network.assets.map((asset) => ({ ...asset, caps: CAPS })) }) });
  shop = await treasury.world.aGateway();
  await treasury.earn(shop, 'USDT', '200');
});
afterEach(() => treasury.stop());

const sql = () => treasury.world.database.sql;
const stolen = () => treasury.chain.tokenBalance(treasury.assets.USDT?.contract as string, THIEF);
/** Lets worker and signer do what they can, though somebody lifts every freeze. */
async function run(rounds = 6): Promise<string[]> {
  const outcomes: string[] = [];
  for (let round = 0; round < rounds; round++) {
    await withoutRules(treasury.world.database, async (tx) => {
      await tx`delete from freezes`;
      await tx`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
    });
    await treasury.work();
    outcomes.push(...(await treasury.sign()));
    await treasury.work();
    await treasury.mine(2);
  }
  return outcomes;
}

describe('whoever took over an http process', () => {
  it('gets cashouts of its own making, up to the caps of the signer, and nothing above', async () => {
    // With the key that accepts, whatever it says was accepted: of any gateway, to anybody.
    for (const amount of ['40', '40', '40']) await treasury.cashOut(shop, 'USDT', amount, { address: THIEF });
    await run();
    const taken = await stolen();
    expect(taken).toBeGreaterThan(0n);
    expect(taken).toBeLessThanOrEqual(90_000_000n);
    const waiting = await sql()<{ reason: string | null }[]>`select wait_reason as reason from settlements where status = 'REQUESTED'`;
    expect(waiting.some(({ reason }) => /would leave/.test(reason ?? ''))).toBe(true);
  });
});

describe('whoever took over a worker', () => {
  it('has no payout signed that names another recipient or amount, an order that nobody accepted, or a wallet as one of ours that is not', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '40');
    for (let planned = false; !planned; ) {
      await dispatchSettlement(treasury.deps, id);
      planned = (await sql()`select 1 from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`).length > 0;
      if (planned) break;
      await treasury.sign();
      await treasury.work();
      await treasury.mine(2);
    }
    const [honest] = await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`;
    const forge = async (change: Record<string, string | null>): Promise<string> => {
      const forged = randomUUID();
      await withoutRules(
        treasury.world.database,
        (tx) => tx`
          insert into payouts select (jsonb_populate_record(null::payouts, to_jsonb(p) || jsonb_build_object('id', ${forged}::text, 'status', 'PLANNED') || ${tx.json(change)}::jsonb)).*
          from payouts p where id = ${honest?.id as string}`,
      );
      return forged;
    };
    // What the table itself refuses is let through: nothing but the signer is to hold.
    for (const { name } of await sql()<{ name: string }[]>`select conname as name from pg_constraint where conrelid = 'payouts'::regclass and contype = 'c'`)
      await sql().unsafe(`alter table payouts drop constraint ${name}`);
    const accepted = { settlement_id: id };
    await withoutRules(treasury.world.database, (tx) => tx`update payouts set recipient = ${THIEF} where id = ${honest?.id as string}`);
    expect(await treasury.sign()).toEqual(['refused']);
    await withoutRules(treasury.world.database, (tx) => tx`update payouts set recipient = ${treasury.merchant} where id = ${honest?.id as string}`);
    for (const [what, change] of Object.entries({
      'another amount': { ...accepted, raw_amount: '199000000', nonce: '1' },
      'a cashout that is not': { settlement_id: randomUUID(), recipient: THIEF, nonce: '2' },
      'a refund that is not': { purpose: 'refund', settlement_id: null, refund_id: randomUUID(), recipient: THIEF, nonce: '3' },
      'withheld coins that are not': { purpose: 'withheld', settlement_id: null, withheld_id: randomUUID(), recipient: THIEF, nonce: '4' },
      'a sweep to a stranger': { purpose: 'sweep', settlement_id: null, recipient: THIEF, nonce: '5' },
      'a top-up of a stranger': { purpose: 'top_up', settlement_id: null, recipient: THIEF, nonce: '6' },
      'coins that follow nobody': { purpose: 'held_release', settlement_id: null, recipient: THIEF, nonce: '7' },
      'cold storage elsewhere': { purpose: 'cold', settlement_id: null, recipient: THIEF, nonce: '8' },
    })) {
      await withoutRules(treasury.world.database, (tx) => tx`delete from freezes`);
      // One live payout a cashout is all that an index allows, whoever writes.
      await withoutRules(treasury.world.database, (tx) => tx`update payouts set status = 'CANCELLED' where status = 'PLANNED'`);
      const forged = await forge(change);
      await treasury.sign();
      const [row] = await sql()`
        select p.failure is not null as refused, (select count(*)::int from payout_attempts where payout_id = p.id) as signed from payouts p where p.id = ${forged}`;
      expect([what, row]).toEqual([what, { refused: true, signed: 0 }]);
    }
    await run(3);
    expect(await stolen()).toBe(0n);
  });
});

describe('whoever is on the signer’s host without its seed', () => {
  it('finds no key in the journal, and signs for nobody with another seed', async () => {
    await treasury.cashOut(shop, 'USDT', '40');
    await run(4);
    const journal = await readFile(journalPath(treasury.world.journalFolder), 'utf8');
    expect(journal).toContain('settlement:');
    expect(journal).not.toContain(TEST_SEED);
    expect(() => openSigners(treasury.deps, 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about')).toThrow(
      /wallet is configured as/,
    );
  });
});

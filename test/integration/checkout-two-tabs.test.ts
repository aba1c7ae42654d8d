import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Offer, Snapshot } from '#api/checkout/page/snapshot.ts';
import { readHosted } from '#api/checkout/read-snapshot.ts';
import type { Gateway } from '#api/deps.ts';
import { createPayment } from '#api/payments/create.ts';
import { selectHostedOffer } from '#api/payments/select-offer.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { times } from '#test/harness/counts.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;
let indexer: NodeJS.Timeout;
beforeAll(async () => {
  world = await inProcess({ moreNetworks: (demo) => [{ ...demo, name: 'sidechain', chainId: '31338', assets: demo.assets.slice(0, 1) }] });
  shop = await world.aGateway();
  indexer = setInterval(() => void world.acknowledge().catch(() => undefined), 20);
});
afterAll(async () => {
  clearInterval(indexer);
  await assertCleanAudit(world.database);
  await world.stop();
});

const read = async (id: string): Promise<Snapshot> => (await readHosted(world.deps, id)).snapshot;
const aPayment = async (): Promise<Snapshot> => {
  const body = { currencyCode: 'USD', amount: '25', callbackUrl: 'https://shop.example/' };
  const reply = await createPayment(world.deps, { gateway: shop, body, clientIp: '127.0.0.1', commit: plainCommit(world.deps) });
  return read((reply.data as { paymentUid: string }).paymentUid);
};

/** The address a snapshot asks the payer to pay to, if it asks. */
const asked = ({ payment }: Snapshot): string | undefined => payment.offers.find(({ id }) => id === payment.selectedOfferId)?.depositAddress;

it('two tabs choosing offers of two networks at once get an address each, and no reader ever sees one change or belong to the other', async () => {
  for (let round = 0; round < times(200); round++) {
    const fresh = await aPayment();
    const { id } = fresh.payment;
    const [here, there] = ['ethereum', 'sidechain'].map((network) => fresh.payment.offers.find((offer) => offer.assetNetwork === network)) as [Offer, Offer];
    const choose = (offer: Offer) => selectHostedOffer(world.deps, { paymentId: id, offerId: offer.id });
    const snapshots: Snapshot[] = [];
    let choosing = true;
    const reading = (async () => {
      while (choosing) snapshots.push(await read(id));
    })();
    // Each changes their mind once, so that the last word is anybody's.
    const replies = await Promise.all([choose(here), choose(there), choose(there), choose(here)]);
    choosing = false;
    await reading;
    snapshots.push(await read(id));

    for (const { status } of replies) expect(status).toBe(200);
    const [one, other] = replies.map((reply) => (reply.data as { depositAddress: string }).depositAddress) as [string, string];
    expect(replies.map((reply) => (reply.data as { depositAddress: string }).depositAddress)).toEqual([one, other, other, one]);
    expect(other).not.toBe(one);
    for (const snapshot of snapshots) {
      for (const offer of snapshot.payment.offers) expect([undefined, offer.assetNetwork === 'ethereum' ? one : other]).toContain(offer.depositAddress);
    }
    const chosen = snapshots.at(-1) as Snapshot;
    expect([here.id, there.id]).toContain(chosen.payment.selectedOfferId);
    expect(asked(chosen)).toBe(chosen.payment.selectedOfferId === here.id ? one : other);
    expect(await world.database.sql`select 1 from deposit_addresses where payment_id = ${id}`).toHaveLength(2);
  }
});

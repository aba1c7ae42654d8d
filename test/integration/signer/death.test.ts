import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Chain, Deps } from '#api/deps.ts';
import type { JournalEntry } from '#api/signer/journal-entry.ts';
import { proveDead } from '#api/signer/prove-dead.ts';
import type { JoinedReader } from '#shared/chains/join-readers.ts';
import { aService, type Service } from '#test/contract/service.ts';
import { TEST_PEOPLE } from '#test/harness/world.ts';

const SLOT = `nonce:0x${'ab'.repeat(20)}:7`;

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

const as = (name: keyof typeof TEST_PEOPLE) => ({ authorization: `Bearer ${TEST_PEOPLE[name]}` });
const signedAt = (signedAtMs: number): JournalEntry[] => [
  {
    order: 'settlement:one',
    payout: 'one',
    network: 'ethereum',
    slot: SLOT,
    kind: 'transfer',
    txid: '0x01',
    sender: `0x${'ab'.repeat(20)}`,
    recipient: `0x${'cd'.repeat(20)}`,
    contract: null,
    rawAmount: 1n,
    rawFee: 1n,
    leaves: true,
    inputs: [],
    expiresAtMs: null,
    signedAtMs,
  },
];
/** Asks while no provider answers. */
function prove(signed: readonly JournalEntry[]): Promise<string | null> {
  const chain = service.deps.chains.get('ethereum') as Chain;
  const reader = { ...chain.reader, fates: async () => undefined } as JoinedReader;
  const deps: Deps = { ...service.deps, config: { ...service.deps.config, NODE_ENV: 'production' } };
  return proveDead(deps, { ...chain, reader }, 'settlement:one', signed);
}

it('bytes are dead once two people said so, of what was signed until then and of nothing later', async () => {
  const signed = signedAt(Date.now());
  expect(await prove(signed)).toMatch(/may still be mined: 0 of 2 providers/);
  const body = { network: 'ethereum', slot: SLOT, reason: 'both providers are gone' };
  const proposed = await service.ask('POST', '/operator/v1/deaths', { headers: as('anna'), body });
  expect(proposed.status, proposed.text).toBe(202);
  const { id } = proposed.data as { id: string };
  expect(await prove(signed)).toMatch(/may still be mined/);
  const alone = await service.ask('POST', `/operator/v1/proposals/${id}/confirm`, { headers: as('anna'), body: {} });
  expect(alone.status).toBe(409);
  const confirmed = await service.ask('POST', `/operator/v1/proposals/${id}/confirm`, { headers: as('ben'), body: {} });
  expect(confirmed.status, confirmed.text).toBe(200);
  expect(await prove(signed)).toBeNull();
  expect(await prove([...signed, ...signedAt(Date.now() + 60_000)])).toMatch(/may still be mined/);
});

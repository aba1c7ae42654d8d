import { describe, expect, it } from 'vitest';
import { type Intent, intentMac, isIntended } from '#api/settlements/intent.ts';
import { parseTrusted } from '#shared/core/money.ts';

const KEY = 'a-master-key-of-at-least-thirty-two-characters';
const ring = { current: KEY, next: undefined, previous: undefined };
const intent: Intent = {
  settlementId: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44',
  gatewayId: '2b0a6f1e-0000-4000-8000-000000000001',
  assetId: '2b0a6f1e-0000-4000-8000-000000000002',
  networkId: '2b0a6f1e-0000-4000-8000-000000000003',
  recipient: '0x00000000000000000000000000000000cafe0001',
  pool: 'green',
  amount: parseTrusted('10.5'),
  feeLocked: parseTrusted('0.25'),
};

describe('the MAC of a claimed cashout', () => {
  it('is accepted for the very claim it was made for', () => {
    expect(isIntended(ring, intent, intentMac(KEY, intent))).toBe(true);
  });

  it('covers every field: changing any one of them, or the key, makes it wrong', () => {
    const mac = intentMac(KEY, intent);
    const changes: Partial<Intent>[] = [
      ...(['settlementId', 'gatewayId', 'assetId', 'networkId', 'recipient'] as const).map((field) => ({ [field]: `${intent[field].slice(0, -1)}9` })),
      { pool: 'held' },
      { amount: parseTrusted('10.6') },
      { feeLocked: parseTrusted('0.26') },
    ];
    for (const change of changes) expect(isIntended(ring, { ...intent, ...change }, mac), JSON.stringify(Object.keys(change))).toBe(false);
    expect(isIntended({ ...ring, current: `${KEY}!` }, intent, mac)).toBe(false);
  });

  it('is accepted under a key that is coming or going, while it is changed', () => {
    const mac = intentMac(KEY, intent);
    expect(isIntended({ current: `${KEY}!`, next: KEY, previous: undefined }, intent, mac)).toBe(true);
    expect(isIntended({ current: `${KEY}!`, next: undefined, previous: KEY }, intent, mac)).toBe(true);
  });

  it('is refused when it is missing or cut short', () => {
    expect(isIntended(ring, intent, null)).toBe(false);
    expect(isIntended(ring, intent, intentMac(KEY, intent).subarray(1))).toBe(false);
  });
});

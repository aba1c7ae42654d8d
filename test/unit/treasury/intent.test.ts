import { describe, expect, it } from 'vitest';
import { type Intent, intentMac, isIntended } from '#api/settlements/intent.ts';
import { parseTrusted } from '#shared/core/money.ts';

const KEY = 'a-master-key-of-at-least-thirty-two-characters';
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
    expect(isIntended(KEY, intent, intentMac(KEY, intent))).toBe(true);
  });

  it('covers every field: changing any one of them, or the key, makes it wrong', () => {
    const mac = intentMac(KEY, intent);
    const changes: Partial<Intent>[] = [
      ...(['settlementId', 'gatewayId', 'assetId', 'networkId', 'recipient'] as const).map((field) => ({ [field]: `${intent[field].slice(0, -1)}9` })),
      { pool: 'held' },
      { amount: parseTrusted('10.6') },
      { feeLocked: parseTrusted('0.26') },
    ];
    for (const change of changes) expect(isIntended(KEY, { ...intent, ...change }, mac), JSON.stringify(Object.keys(change))).toBe(false);
    expect(isIntended(`${KEY}!`, intent, mac)).toBe(false);
  });

  it('is refused when it is missing or cut short', () => {
    expect(isIntended(KEY, intent, null)).toBe(false);
    expect(isIntended(KEY, intent, intentMac(KEY, intent).subarray(1))).toBe(false);
  });
});

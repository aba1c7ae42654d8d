import { describe, expect, it } from 'vitest';
import { refundMac } from '#api/intents/refund-mac.ts';
import { type Intent, intentMac, isOrdered, type Order, orderMac } from '#api/intents/order-mac.ts';
import { parseTrusted } from '#shared/core/money.ts';
import { isMacOf, type KeyRing } from '#shared/platform/key-ring.ts';

// No signer of this release believes these MACs: those before it do, and an upgrade proves what they accepted by them.

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

const isIntended = (keys: KeyRing, claim: Intent, mac: Uint8Array | null): boolean => isMacOf(keys, mac, (key) => intentMac(key, claim));

/** Of a claim, an order and a refund. */
const VECTORS = [
  'b6d80c4569f6875ab4676197e0cd1be874ee3464b3fe0eb43725f93e44d261aa',
  '5528faa14d12c2e1d55ffe5dd8c0b4c4b43bfdb800c283183ef2dd284644b371',
  '927350a2368f81d99dec446228d2fbd73ccf2e66a9bfd1940b12d6ace3cb073e',
];

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

describe('the MAC of a parked cashout', () => {
  const { settlementId, gatewayId, assetId, networkId, recipient, amount } = intent;
  const order: Order = { settlementId, gatewayId, assetId, networkId, recipient, amount, route: 'SMART', pool: null };

  it('covers every field, route and pool included: changing any one of them, or the key, makes it wrong', () => {
    const mac = orderMac(KEY, order);
    expect(isOrdered(ring, order, mac)).toBe(true);
    const changes: Partial<Order>[] = [
      ...(['settlementId', 'gatewayId', 'assetId', 'networkId', 'recipient'] as const).map((field) => ({ [field]: `${intent[field].slice(0, -1)}9` })),
      { route: 'GREEN' },
      { route: 'AML_HELD' },
      { pool: 'green' },
      { pool: 'held' },
      { amount: parseTrusted('10.6') },
    ];
    for (const change of changes) expect(isOrdered(ring, { ...order, ...change }, mac), Object.keys(change).join()).toBe(false);
    expect(isOrdered({ ...ring, current: `${KEY}!` }, order, mac)).toBe(false);
    expect(isOrdered(ring, order, null)).toBe(false);
  });

  it('is that of no claim: what was parked is not claimed, whatever the fields are', () => {
    expect(orderMac(KEY, { ...order, route: 'GREEN', pool: 'green' })).not.toEqual(intentMac(KEY, intent));
  });
});

describe('the MAC of a refund', () => {
  const refund = {
    id: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44',
    paymentId: '2b0a6f1e-0000-4000-8000-000000000004',
    gatewayId: intent.gatewayId,
    assetId: intent.assetId,
    networkId: intent.networkId,
    recipient: intent.recipient,
    amount: intent.amount,
  };
  const isOrderedRefund = (keys: KeyRing, changed: typeof refund): boolean => isMacOf(keys, refundMac(KEY, refund), (key) => refundMac(key, changed));
  const stored = (change: Partial<typeof refund> = {}): typeof refund => ({ ...refund, ...change });

  it('covers every field, the recipient included: changing any one of them, or the key, makes it wrong', () => {
    expect(isOrderedRefund(ring, stored())).toBe(true);
    for (const field of ['id', 'paymentId', 'gatewayId', 'assetId', 'networkId', 'recipient'] as const)
      expect(isOrderedRefund(ring, stored({ [field]: `${refund[field].slice(0, -1)}9` })), field).toBe(false);
    expect(isOrderedRefund(ring, stored({ amount: parseTrusted('10.6') }))).toBe(false);
    expect(isOrderedRefund({ ...ring, current: `${KEY}!` }, stored())).toBe(false);
  });
});

describe('what MACs are made of', () => {
  // A MAC that came out differently would make every stored order unpayable after an upgrade.
  it('stays what it was', () => {
    const { settlementId, gatewayId, assetId, networkId, recipient, amount } = intent;
    const order: Order = { settlementId, gatewayId, assetId, networkId, recipient, amount, route: 'SMART', pool: null };
    const refund = { ...order, id: settlementId, paymentId: gatewayId };
    expect([intentMac(KEY, intent), orderMac(KEY, order), refundMac(KEY, refund)].map((mac) => mac.toString('hex'))).toEqual(VECTORS);
  });
});

import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, test } from 'vitest';
import { Checkout } from '#api/checkout/page/checkout.tsx';
import { initialProps } from '#api/checkout/page/model.ts';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import { stateOf } from '#api/checkout/page/state.ts';
import { readCatalogues } from '#test/fixtures/catalogues.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';

const MESSAGES = readCatalogues().get('en')!;
const PAY = checkoutScene('pay').snapshot;
const SEEN = checkoutScene('seen').snapshot.pendingDeposit!;
const PAID = checkoutScene('success-other-coin').snapshot.paid!;
const MINUTE = 60_000;
/** Moments around the deadline: well before, in its last minutes, at it, in the grace period, long after. */
const MOMENTS = [-60, -1, 0, 10, 60 * 24 * 400].map((minutes) => Date.parse(PAY.payment.expiresAt) + minutes * MINUTE);

/** Every combination of what a snapshot may say, sensible or not, of a payment in `status`. */
function* situations(status: Snapshot['payment']['status']): Generator<Snapshot> {
  for (const inTime of [null, true, false])
    for (const mismatchSide of status === 'MISMATCH' ? ([null, 'UNDER', 'OVER'] as const) : [null])
      for (const paid of status === 'PENDING' ? [null] : [null, { ...PAID, requested: null }])
        for (const openAmount of [false, true])
          for (const isSandbox of [false, true])
            for (const moment of MOMENTS)
              yield {
                ...PAY,
                serverTime: new Date(moment).toISOString(),
                pendingDeposit: inTime === null ? null : { ...SEEN, inTime },
                mismatchSide,
                lateCapture: paid !== null,
                paid,
                payment: { ...PAY.payment, status, openAmount, isSandbox, ...(openAmount ? { minAmountUsd: '25' } : {}) },
              };
}

function htmlOf(snapshot: Snapshot): string {
  const language = { tag: 'en', direction: 'ltr', messages: MESSAGES } as const;
  const data = { language, languages: [], languageAsked: false, path: '/p/1', snapshot, choosing: false, problem: null, socketUrl: 'wss://pay.example/ws' };
  return renderToString(h(Checkout, initialProps(data)));
}

describe.each(['PENDING', 'SUCCESS', 'ACCEPTABLE', 'MISMATCH', 'EXPIRED'] as const)('a payment that is %s', (status) => {
  test('asks for money only while it may be sent, and always says whose it is, which it is and where help is', () => {
    for (const snapshot of situations(status)) {
      const { payment, pendingDeposit } = snapshot;
      const moment = Date.parse(snapshot.serverTime);
      const mayPay = status === 'PENDING' && pendingDeposit === null && moment < Date.parse(payment.expiresAt);
      const html = htmlOf(snapshot);
      const parts = ['address', 'timer', 'qr', 'amount', 'test-mode', 'merchant', 'payment-id', 'contact', 'return'];
      expect({ state: stateOf(snapshot, moment, false), has: parts.filter((part) => html.includes(`data-part="${part}"`)) }).toEqual({
        state: expect.any(String),
        has: parts.filter((part) => {
          if (part === 'timer') return mayPay;
          if (part === 'address' || part === 'qr') return mayPay && !payment.isSandbox;
          if (part === 'amount') return mayPay && !payment.openAmount;
          return part === 'test-mode' ? payment.isSandbox : true;
        }),
      });
      expect(html).not.toMatch(/undefined|NaN|\[object|\{\w+\}/);
    }
  });
});

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorText, type Read, readClientFrame, snapshotText } from '#api/http/socket-frames.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { SCENARIOS } from '#state-machines/payment/scenario.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';

const read = (message: unknown): Read => readClientFrame(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)));
const refused = (message: unknown): [string | null, string, string] => {
  const result = read(message);
  return 'error' in result ? [result.command, result.error.code, result.error.message.split(':')[0] ?? ''] : [null, 'accepted', ''];
};

describe('a message of a page', () => {
  it('may select an offer', () => {
    const offerId = randomUUID();
    expect(read({ type: 'select', offerId, colour: 'blue' })).toEqual({ frame: { type: 'select', offerId } });
  });

  it('may play every scenario, with an amount and an asset', () => {
    for (const scenario of SCENARIOS) expect(read({ type: 'simulate', scenario })).toEqual({ frame: { type: 'simulate', scenario } });
    const whole = { type: 'simulate', scenario: 'success', amount: '0.000000000000000001', assetId: randomUUID() };
    expect(read(whole)).toEqual({ frame: whole });
  });

  it.each([
    ['no JSON', '{', [null, 'malformed_json']],
    ['a key twice', '{"type":"select","type":"select"}', [null, 'malformed_json']],
    ['a prototype and no type', '{"__proto__":{}}', [null, 'validation_error', 'type']],
    ['deep nesting', '['.repeat(20) + ']'.repeat(20), [null, 'malformed_json']],
    ['a list', [], [null, 'validation_error', 'body']],
    ['nothing', null, [null, 'validation_error', 'body']],
    ['no type', {}, [null, 'validation_error', 'type']],
    ['a type nobody knows', { type: 'pay' }, [null, 'validation_error', 'type']],
    ['the name of a prototype as type', { type: 'constructor' }, [null, 'validation_error', 'type']],
    ['no offer', { type: 'select' }, ['select', 'validation_error', 'offerId']],
    ['an offer that is a list', { type: 'select', offerId: [randomUUID()] }, ['select', 'validation_error', 'offerId']],
    ['no scenario', { type: 'simulate' }, ['simulate', 'validation_error', 'scenario']],
    ['a scenario nobody knows', { type: 'simulate', scenario: 'rich' }, ['simulate', 'validation_error', 'scenario']],
    ['an amount that is a number', { type: 'simulate', scenario: 'success', amount: 1 }, ['simulate', 'validation_error', 'amount']],
    ['an amount with an exponent', { type: 'simulate', scenario: 'success', amount: '1e3' }, ['simulate', 'validation_error', 'amount']],
    ['an asset that is no id', { type: 'simulate', scenario: 'success', assetId: 'USDT' }, ['simulate', 'validation_error', 'assetId']],
  ])('with %s is refused, naming what is wrong', (_what, message, expected) => {
    expect(refused(message).slice(0, expected.length)).toEqual(expected);
  });

  it('never brings the reader down, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          const result = readClientFrame(bytes);
          expect('frame' in result || result.error instanceof ServiceError).toBe(true);
        },
      ),
    );
  });
});

describe('what is sent', () => {
  it('is the whole snapshot beside its type, written once for all pages', () => {
    const { snapshot } = checkoutScene('pay');
    const text = snapshotText('update', snapshot);
    expect(JSON.parse(text)).toEqual({ type: 'update', ...snapshot });
    expect(JSON.parse(snapshotText('snapshot', snapshot))).toEqual({ type: 'snapshot', ...snapshot });
    expect(snapshotText('update', snapshot)).toBe(text);
  });

  it('says of an error what an error response says, and nothing of its cause', () => {
    const error = new ServiceError('service_unavailable', { retryAfterSeconds: 3, cause: 'canary' });
    expect(JSON.parse(errorText('select', error))).toEqual({
      type: 'error',
      command: 'select',
      error: { code: 'service_unavailable', message: error.message, retryAfterSeconds: 3 },
    });
    expect(JSON.parse(errorText(null, new ServiceError('malformed_json'))).error).not.toHaveProperty('retryAfterSeconds');
  });
});

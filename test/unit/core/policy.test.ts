import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { POLICY, RATE_LIMITS } from '#shared/core/policy.ts';

describe('the defaults', () => {
  test('deliver a webhook in six attempts over the contract’s 2.7 hours', () => {
    expect(POLICY.webhookPausesSeconds).toHaveLength(6);
    expect(POLICY.webhookPausesSeconds.reduce<number>((sum, pause) => sum + pause, 0)).toBe(2 * 3_600 + 42 * 60 + 30);
  });

  test('expire a payment within about a minute of its deadline', () => {
    expect(POLICY.expirySweepSeconds).toBeLessThan(60);
  });

  test('remember an Idempotency-Key for longer than anything it made can wait', () => {
    expect(POLICY.idempotencyKeptDays).toBeGreaterThan(POLICY.parkedDays);
  });

  test('remember a used signature for as long as it could be used again', () => {
    // Both ends count in whole seconds, by the clocks of two machines.
    expect(POLICY.signatureMemorySeconds).toBeGreaterThan(2 * POLICY.signatureSkewSeconds + 1);
  });

  test('limit every operation of the contract, and nothing that is not one', () => {
    const contract = parse(readFileSync(new URL('../../../api/contract/openapi.yaml', import.meta.url), 'utf8')) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const operations = Object.values(contract.paths).flatMap((path) =>
      Object.values(path).flatMap(({ operationId }) => (operationId === undefined ? [] : [operationId])),
    );
    expect(Object.keys(RATE_LIMITS).sort()).toEqual([...operations].sort());
  });
});

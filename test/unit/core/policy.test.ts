import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { FINALITY, POLICY, RATE_LIMITS } from '#shared/core/policy.ts';

describe('the defaults', () => {
  test('deliver a webhook in six attempts over the contract’s 2.7 hours', () => {
    expect(POLICY.webhookPausesSeconds).toHaveLength(6);
    expect(POLICY.webhookPausesSeconds.reduce<number>((sum, pause) => sum + pause, 0)).toBe(2 * 3_600 + 42 * 60 + 30);
  });

  test('expire a payment within about a minute of its deadline', () => {
    expect(POLICY.expiryCheckSeconds).toBeLessThan(60);
  });

  test('remember an Idempotency-Key for longer than anything it made can wait', () => {
    expect(POLICY.idempotencyKeptDays).toBeGreaterThan(POLICY.parkedDays);
  });

  test('remember a used signature for as long as it could be used again', () => {
    // Both ends count in whole seconds, by the clocks of two machines.
    expect(POLICY.signatureMemorySeconds).toBeGreaterThan(2 * POLICY.signatureSkewSeconds + 1);
  });

  // Every other test of these counts with the constant itself, so that only this one says what it is.
  test('are the figures that the contract and decisions name', () => {
    expect(POLICY).toMatchObject({
      // contract 2.1, 4.3, 8
      timeoutSeconds: 3_600,
      parkedDays: 7,
      parkedCheckSeconds: 60,
      metadataBytes: 4_096,
      selectWaitMs: 5_000,
      signatureSkewSeconds: 300,
      // decisions 2
      priceFreshSeconds: 120,
      priceOutlierBps: 500,
      priceSourcesMinimum: { crypto: 3, fiat: 2 },
      priceSourcesAgreeing: 2,
      // decisions 3, 4
      priceWaitAlertSeconds: 300,
      lateCaptureGraceSeconds: 86_400,
      lateCaptureGraceMaximumSeconds: 604_800,
      watchDays: 90,
      expiryCheckSeconds: 15,
      expiryPatienceSeconds: 900,
      mempoolHoldsPriceSeconds: 86_400,
      secondOpinionUsd: '1000',
      secondOpinionPassMs: 5_000,
      secondOpinionsAtOnce: 4,
      deathWitnesses: 2,
      // decisions 6
      webhookPausesSeconds: [0, 30, 120, 600, 1_800, 7_200],
      webhookJitterPercent: 5,
      webhookDeadlineMs: 10_000,
      webhookReadBytes: 65_536,
      webhookSecretOverlapSeconds: 86_400,
      // decisions 8
      bodyBytes: 65_536,
      idempotencyKeptDays: 90,
      idempotencyWaitMs: 10_000,
      idempotencyKeyLength: 255,
      rateLimitServerFactor: 10,
      listLimit: 20,
      listLimitMaximum: 100,
      // decisions 9
      inquiryAttempts: 5,
      // decisions 10
      minimumSettlementUsd: '1',
      parkedCap: 20,
      maturitySeconds: { production: 86_400, development: 0 },
      screeningThreshold: 70,
      screeningRetrySeconds: 60,
      destinationVerdictSeconds: 86_400,
      totpStepSeconds: 30,
      totpWindowSteps: 1,
      totpFailuresUntilLock: 5,
      totpLockSeconds: 900,
      tokenUnitsTimesQuoted: 3,
      feeExpenseDailyUsd: '50',
      feeExpensePerGateway: 4,
      limitKeptForAll: 4,
      noncesPerGateway: 64,
      // Payouts on their way (0010)
      payoutAttempts: 8,
      payoutBumpSeconds: 60,
      payoutBumpBlocks: 3,
      payoutQuoteSeconds: 120,
      payoutCloseSeconds: 900,
      payoutHostageSeconds: 60,
      anchorCloseSeconds: 259_200,
      payoutExpirySeconds: 3_600,
      bitcoinFeeRate: { floor: '1', cap: '500', fallback: '5', targetBlocks: 3 },
      sweepFloorTimesCost: 20,
    });
  });

  test('let each operation be called as often as decisions say', () => {
    expect(RATE_LIMITS).toMatchObject({
      createPayment: 600,
      createOpenAmountPayment: 600,
      verifyPayment: 1_200,
      getPublicPayment: 300,
      selectOffer: 120,
      expirePayment: 60,
      inquirePayment: 20,
      createSettlement: 120,
      estimateSettlementFee: 120,
      retrySettlement: 120,
      cancelSettlement: 120,
      approveSettlement: 10,
      getSettlement: 1_200,
      listSettlements: 1_200,
      listBalances: 1_200,
    });
  });

  test('call a block final when decisions do', () => {
    expect(FINALITY).toEqual({
      ethereum: { resolve: [{ upToUsd: '10000', rule: { blocks: 12 } }, { rule: { tag: 'safe' } }], mature: { tag: 'finalized' } },
      fastFinality: { resolve: [{ rule: { tag: 'finalized' } }], mature: { tag: 'finalized' } },
      rollup: { resolve: [{ rule: { tag: 'safe' } }], mature: { tag: 'finalized' } },
      tron: { resolve: [{ rule: { tag: 'finalized' } }], mature: { tag: 'finalized' } },
      bitcoin: {
        resolve: [
          { upToUsd: '1000', rule: { blocks: 1 }, mature: { blocks: 2 } },
          { upToUsd: '50000', rule: { blocks: 2 }, mature: { blocks: 3 } },
          { rule: { blocks: 6 } },
        ],
        mature: { blocks: 7 },
      },
      local: { resolve: [{ rule: { blocks: 2 } }], mature: { blocks: 2 } },
    });
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

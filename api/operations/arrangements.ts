import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { assertFixedAmounts, assertOpenAmounts } from '#api/payments/arrangement.ts';
import { refuseStrangers } from '#api/payments/load.ts';

/**
 * What an operation asks of its gateway beyond the key's permission, and therefore before anything of the request is read
 * (contract 7, decisions 8). Each throws forbidden.
 */
export const arrangements: Partial<Record<keyof operations, (gateway: Gateway) => void>> = {
  createPayment: assertFixedAmounts,
  previewPayment: assertFixedAmounts,
  createOpenAmountPayment: assertOpenAmounts,
};

/**
 * What an operation without a key asks of its caller before anything of the body is read; those without a body ask it
 * themselves (contract 5.7). Each throws forbidden.
 */
export const strangers: Partial<Record<keyof operations, (deps: Deps, call: { paymentId: string; clientIp: string }) => Promise<void>>> = {
  simulateSandboxPayment: refuseStrangers,
};

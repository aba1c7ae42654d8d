import { payHeldOrders } from '#api/payouts/pay-held-orders.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Sends refunds that were ordered, and coins whose payment changed its pool. */
export const payHeldOrdersSweep: Sweep = { name: 'pay-held-orders', everySeconds: POLICY.heldOrderSeconds, run: payHeldOrders };

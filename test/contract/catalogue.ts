import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { operations } from '#api/contract/types.ts';

/** Every operation the merchant contract has. */
export type OperationId = Exclude<keyof operations, 'receivePaymentWebhook'>;

/** One operation as the contract file describes it. */
export interface Entry {
  id: OperationId;
  method: string;
  /** Template below /api/v1. */
  path: string;
  scheme: 'apiKey' | 'signedRequest' | null;
  permission: string | null;
  takesBody: boolean;
  /** Statuses the contract lists. */
  statuses: string[];
  /** A path parameter decides which resource is meant. */
  hasId: boolean;
  idempotencyKey: 'required' | 'optional' | 'none';
}

interface RawOperation {
  operationId: OperationId;
  security?: Record<string, string[]>[];
  requestBody?: unknown;
  parameters?: { $ref?: string }[];
  responses: Record<string, unknown>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** What this release answers with 501 whatever is asked. */
export const NOT_YET: readonly OperationId[] = [
  'createOpenAmountPayment', 'previewPayment', 'inquirePayment', 'explainPayment', 'listPayments', 'listPaymentWebhooks', 'resendPaymentWebhook',
  'simulateSandboxPayment', 'openPaymentSocket', 'approveSettlement', 'retrySettlement', 'cancelSettlement',
];

/** Every operation of openapi.yaml. */
export const CATALOGUE: readonly Entry[] = Object.entries((parse(readFileSync('api/contract/openapi.yaml', 'utf8')) as { paths: Record<string, Record<string, RawOperation>> }).paths).flatMap(
  ([path, item]) => METHODS.filter((method) => item[method] !== undefined).map((method) => entry(path, method, item[method] as RawOperation)),
);

function entry(path: string, method: string, operation: RawOperation): Entry {
  const [scheme, roles] = Object.entries(operation.security?.[0] ?? {})[0] ?? [null, []];
  const refs = (operation.parameters ?? []).map((parameter) => parameter.$ref ?? '');
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    scheme: scheme as Entry['scheme'],
    permission: roles[0] ?? null,
    takesBody: operation.requestBody !== undefined,
    statuses: Object.keys(operation.responses),
    hasId: path.includes('{'),
    idempotencyKey: refs.some((ref) => ref.endsWith('/IdempotencyKey')) ? 'required' : refs.some((ref) => ref.endsWith('/OptionalIdempotencyKey')) ? 'optional' : 'none',
  };
}

/** The path with these ids in place of its parameters. */
export function pathOf({ path }: Entry, id = '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44'): string {
  return path.replaceAll(/\{[^}]+\}/g, id);
}

const ASSET = '00000000-0000-4000-8000-000000000000';
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** A body of the right shape for every operation that takes one. */
export const BODIES: Partial<Record<OperationId, Record<string, unknown>>> = {
  createPayment: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/thanks' },
  createOpenAmountPayment: { callbackUrl: 'https://shop.example/thanks' },
  previewPayment: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/thanks' },
  inquirePayment: { txHash: `0x${'a'.repeat(64)}` },
  simulateSandboxPayment: { scenario: 'success' },
  estimateSettlementFee: { assetId: ASSET, amount: '1', address: ADDRESS },
  createSettlement: { assetId: ASSET, amount: '1', address: ADDRESS },
  approveSettlement: { totpCode: '123456' },
};

/** Statuses of an operation that every-operation.test.ts proves the same way for all of them. */
export function commonStatuses(entry: Entry): string[] {
  const always = ['500', '503', ...(entry.scheme === null ? [] : ['401', '403']), ...(entry.takesBody ? ['400'] : []), ...(entry.method === 'POST' ? ['413', '415'] : [])];
  return [...always, ...(NOT_YET.includes(entry.id) ? ['501'] : [])];
}

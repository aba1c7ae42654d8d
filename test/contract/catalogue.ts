import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** One operation as its contract file describes it. */
export interface Entry {
  id: string;
  method: string;
  /** Template below the contract's root. */
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
  operationId: string;
  security?: Record<string, string[]>[];
  requestBody?: unknown;
  parameters?: { $ref?: string }[];
  responses: Record<string, unknown>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** What this release answers with 501 whatever is asked. */
export const NOT_YET: readonly string[] = [
  'createOpenAmountPayment',
  'previewPayment',
  'inquirePayment',
  'explainPayment',
  'listPayments',
  'listPaymentWebhooks',
  'resendPaymentWebhook',
  'simulateSandboxPayment',
  'openPaymentSocket',
  'approveSettlement',
  'retrySettlement',
  'cancelSettlement',
];

/** Every operation of the merchant contract. */
export const CATALOGUE = read('api/contract/openapi.yaml');
/** Every operation of the operator contract. */
export const OPERATOR_CATALOGUE = read('api/contract/operator.yaml');

function read(file: string): readonly Entry[] {
  const { paths } = parse(readFileSync(file, 'utf8')) as { paths: Record<string, Record<string, RawOperation>> };
  return Object.entries(paths).flatMap(([path, item]) => METHODS.flatMap((method) => (item[method] === undefined ? [] : [entry(path, method, item[method])])));
}

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
    idempotencyKey: refs.some((ref) => ref.endsWith('/IdempotencyKey'))
      ? 'required'
      : refs.some((ref) => ref.endsWith('/OptionalIdempotencyKey'))
        ? 'optional'
        : 'none',
  };
}

/** The path with these ids in place of its parameters. */
export function pathOf({ path }: Entry, id = '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44'): string {
  return path.replaceAll(/\{[^}]+\}/g, id);
}

const ASSET = '00000000-0000-4000-8000-000000000000';
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** A body of the right shape for every operation that takes one. */
export const BODIES: Record<string, Record<string, unknown>> = {
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
  const always = [
    '500',
    '503',
    ...(entry.scheme === null ? [] : ['401', '403']),
    ...(entry.takesBody ? ['400'] : []),
    ...(entry.method === 'POST' ? ['413', '415'] : []),
  ];
  return [...always, ...(NOT_YET.includes(entry.id) ? ['501'] : [])];
}

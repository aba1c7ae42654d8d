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

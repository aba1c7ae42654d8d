import type { IncomingMessage } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { Deps } from '#api/deps.ts';
import { type Admission, credentialOf, rateLimit } from './rate-limit.ts';

/** The header that names the caller, by the contract's security scheme. */
const HEADERS: Readonly<Record<string, readonly ['key' | 'token', string]>> = {
  apiKey: ['key', 'x-api-key'],
  signedRequest: ['key', 'x-api-key'],
  operatorToken: ['token', 'authorization'],
};

/** A request on its way in. */
export interface Arrival {
  request: IncomingMessage;
  clientIp: string;
  /** Undefined when no path and method of the contract match; all those share one budget. */
  operation: Operation | undefined;
  /** Budget of an operation: its own, or one that several share. */
  budget(operationId: string): string;
  /** Path parameters as sent. */
  params: Record<string, string | string[]>;
}

/** Charges the caller's budget for this operation, naming the credential that may earn it a larger one. @throws rate_limit_exceeded */
export async function admit(deps: Deps, { request, clientIp, operation, budget, params }: Arrival): Promise<Admission> {
  if (operation === undefined) return rateLimit(deps, { operationId: 'unknown', clientIp });
  const [scheme] = (operation.security ?? []).flatMap((one) => Object.keys(one));
  const [kind, header] = HEADERS[scheme ?? ''] ?? [];
  const credential = kind === undefined ? credentialOf('payment', textOf(params.paymentId)) : credentialOf(kind, textOf(request.headers[header ?? '']));
  return rateLimit(deps, { operationId: budget(operation.operationId ?? 'unknown'), clientIp, credential });
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

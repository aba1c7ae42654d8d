import { OpenAPIBackend, type Operation } from 'openapi-backend';
import { expect } from 'vitest';
import { readCheckoutContract, readContract } from '#api/http/read-contract.ts';
import { createAjv } from '#api/http/contract-router.ts';
import { ERRORS } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** The body as sent. */
  text: string;
  // Untyped on purpose: a test reads what it asserts on.
  data: Record<string, unknown>;
  error: { code: string; message: string };
}

/** What may be asked beside method and path. */
export interface Ask {
  body?: unknown;
  /** Sent as it is instead of `body`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** Sends one request and answers with what came back, once it was held against the contract. */
export type Client = (method: string, path: string, ask?: Ask) => Promise<Answer>;

/** The contract files, and the path below which each is served. */
const CONTRACTS = [
  { read: () => readContract('api/contract/openapi.yaml'), apiRoot: '/api/v1' },
  { read: () => readContract('api/contract/operator.yaml'), apiRoot: '/operator/v1' },
  { read: () => readCheckoutContract('api/contract'), apiRoot: '' },
];

/** What any answer may carry, for transport and for browsers; the rest must be declared by the response. */
const UNDECLARED = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'referrer-policy',
  'transfer-encoding',
  'x-content-type-options',
  'x-frame-options',
]);
/** Errors of paths and methods that no contract file has. */
const OUTSIDE = ['not_found', 'method_not_allowed', 'malformed_json', 'payload_too_large', 'rate_limit_exceeded', 'internal_error', 'service_unavailable'];

interface Schema {
  [keyword: string]: unknown;
}
interface Declared {
  headers?: Record<string, { required?: boolean; schema: Schema }>;
  content?: Record<string, { schema: Schema }>;
}
type Check = (value: unknown) => string[];
interface Contract {
  match(method: string, path: string): Operation | undefined;
  /** Compiled once per key. */
  bodyCheck(key: string, schema: Schema): Check;
  /** The same for a header, whose value is text whatever its type. */
  headerCheck(key: string, schema: Schema): Check;
}

let opened: Promise<Contract[]> | undefined;

/**
 * A client that fails on any answer the contract does not describe: a status that the operation does not list, a body that
 * differs from its schema by one field, an error code of another status, a header that is missing, malformed or undeclared,
 * another content type, a success without its envelope.
 */
export async function openClient(origin: string): Promise<Client> {
  opened ??= Promise.all(CONTRACTS.map(openContract));
  const contracts = await opened;
  return async (method, path, { body, raw, headers = {} } = {}) => {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const type = content === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(`${origin}${path}`, { method, headers: { ...type, ...headers }, ...(content === undefined ? {} : { body: content }) });
    const text = await response.text();
    const what = `${method} ${path.slice(0, 200)} answered ${response.status} ${text.slice(0, 800)}`;
    const found = contracts.flatMap((contract) => {
      const operation = contract.match(method, path);
      return operation === undefined ? [] : [{ contract, operation }];
    })[0];
    checkHeaders(response, method, what);
    const file = found !== undefined && isFile(found.operation, response);
    const envelope = file ? FILE : checkEnvelope(response, text, what);
    if (found === undefined) expect(OUTSIDE, `${what}, and the contract has no such operation`).toContain(envelope.error?.code);
    else checkDeclared(found.contract, found.operation, response, envelope, what);
    return { status: response.status, headers: response.headers, text, data: envelope.data, error: envelope.error };
  };
}

/** What stands for the envelope of an answer that is a file, or says that there is none to send. */
const FILE = { success: true, data: {}, error: { code: '', message: '' } };

/** Whether the contract answers this status with something else than the envelope; its type is held against the contract. */
function isFile(operation: Operation, response: Response): boolean {
  const declared = (operation.responses as Record<string, Declared> | undefined)?.[response.status];
  if (declared === undefined || declared.content?.['application/json'] !== undefined) return false;
  const type = response.headers.get('content-type')?.split(';')[0] ?? null;
  expect(type === null ? [] : [type], `${operation.operationId} ${response.status}`).toEqual(
    type === null ? [] : Object.keys(declared.content ?? {}).filter((one) => one === type),
  );
  return true;
}

interface Envelope extends Pick<Answer, 'data' | 'error'> {
  success: boolean;
}

/** Contract 1: every body is the envelope, and every error code travels on its own status. */
function checkEnvelope(response: Response, text: string, what: string): Envelope {
  expect(response.headers.get('content-type'), what).toBe('application/json; charset=utf-8');
  const envelope = JSON.parse(text) as Envelope;
  expect(Object.keys(envelope), what).toEqual(response.ok ? ['success', 'data'] : ['success', 'error']);
  expect(envelope.success, what).toBe(response.ok);
  if (response.ok) return envelope;
  expect(Object.keys(envelope.error), what).toEqual(['code', 'message']);
  expect(ERRORS[envelope.error.code as keyof typeof ERRORS]?.status, `${what}: the code belongs to another status`).toBe(response.status);
  expect(envelope.error.message, what).toMatch(/\S/);
  return envelope;
}

/** What holds for every answer whatever the file says about it. */
function checkHeaders({ headers, status }: Response, method: string, what: string): void {
  expect(headers.get('x-request-id'), what).toSatisfy(isUuid);
  expect(headers.get('x-contract-revision'), what).toBe('2.2.0');
  expect(headers.get('x-content-type-options'), what).toBe('nosniff');
  expect(headers.get('cache-control'), what).toBe('no-store');
  if (status === 429 || status === 503) expect(headers.get('retry-after'), `${what}: Retry-After`).toMatch(/^[1-9]\d*$/);
  expect(headers.has('allow'), `${what}: Allow`).toBe(status === 405);
  if (status === 405) expect(headers.get('allow')?.split(', '), what).not.toContain(method);
}

function checkDeclared(contract: Contract, operation: Operation, response: Response, envelope: Envelope, what: string): void {
  const responses = (operation.responses ?? {}) as Record<string, Declared>;
  const declared = responses[response.status];
  expect(Object.keys(responses), `${what}, which ${operation.operationId} does not list`).toContain(String(response.status));
  const key = `${operation.operationId} ${response.status}`;
  const schema = declared?.content?.['application/json']?.schema;
  if (!isFile(operation, response)) {
    expect(schema, `${key} has no body in the contract`).toBeDefined();
    expect(contract.bodyCheck(key, schema ?? {})(envelope), what).toEqual([]);
  }
  // The operator's file declares no headers: it speaks to one client, and what all answers carry was checked.
  if (declared?.headers === undefined) return;
  const headers = Object.fromEntries(Object.entries(declared.headers).map(([name, header]) => [name.toLowerCase(), header]));
  for (const name of response.headers.keys())
    if (!UNDECLARED.has(name)) expect(Object.keys(headers), `${what}: the header ${name} is not declared`).toContain(name);
  for (const [name, header] of Object.entries(headers)) {
    const value = response.headers.get(name);
    if (value === null) expect(header.required ?? false, `${what}: the header ${name} is missing`).toBe(false);
    else expect(contract.headerCheck(`${key} ${name}`, header.schema)(value), `${what}: the header ${name}`).toEqual([]);
  }
}

async function openContract({ read, apiRoot }: (typeof CONTRACTS)[number]): Promise<Contract> {
  const backend = new OpenAPIBackend({ definition: read(), apiRoot, quick: true, strict: true });
  await backend.init();
  // Listed once instead of for each request, of which there are tens of thousands.
  const operations = backend.getOperations();
  backend.router.getOperations = () => operations;
  return {
    match: (method, path) => backend.matchOperation({ method, path, headers: {} }),
    bodyCheck: compiler({ coerceTypes: false }),
    headerCheck: compiler({ coerceTypes: true }),
  };
}

/** Compiles each schema once; a check answers what is wrong with a value. */
export function compiler(options: { coerceTypes: boolean }): (key: string, schema: Schema) => Check {
  const ajv = createAjv({ strict: false, allErrors: true, ...options });
  const known = new Map<string, ReturnType<typeof ajv.compile>>();
  return (key, schema) => {
    const validate = known.get(key) ?? ajv.compile(schema);
    known.set(key, validate);
    return (value) => (validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`));
  };
}

import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { type Context, type Document, OpenAPIBackend, type Operation, type Request as ApiRequest } from 'openapi-backend';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import type { CallingKey } from '#api/gateways/keys.ts';
import { noteRefusal } from '#api/gateways/refusals.ts';
import { likenessOf } from '#api/settlements/likeness.ts';
import type { StoredReply } from '#api/store/idempotency.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { parseUrl } from '#shared/core/parse-url.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import { traceIds, withSpan } from '#shared/platform/tracing.ts';
import { admit } from './admit.ts';
import { readBody } from './body.ts';
import { clientIp } from './client-ip.ts';
import { successBody } from '#shared/core/reply-body.ts';
import { send } from './envelope.ts';
import { committer, fingerprint, findReplay, idempotencyKey, type Keyed } from './idempotency.ts';
import { noteCaller, notesOf } from './observe.ts';
import { quicken } from './quick-router.ts';
import type { Admission } from './rate-limit.ts';
import { sendFile } from './send-file.ts';
import type { Caller, Scheme } from './security.ts';
import { parseStrictJson } from './strict-json.ts';
import { isInPath, validationProblem } from './validation-problem.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** One contract file and what answers it. */
export interface ContractRoutes {
  document: Document;
  /** Path the contract's own paths hang below: `/api/v1`. */
  apiRoot: string;
  schemes: Record<string, Scheme>;
  /** By operationId; typed by the contract where it is built. */
  operations: object;
  /** By operationId: what its gateway must be besides holding the permission; throws forbidden. */
  arrangements?: Readonly<Record<string, ((gateway: Gateway) => void) | undefined>>;
  /** By operationId of those without a key: whether this caller may speak about the payment; throws forbidden. */
  strangers?: Readonly<Record<string, ((deps: Deps, call: { paymentId: string; clientIp: string }) => Promise<void>) | undefined>>;
  /** Which rate limit an operation draws on: its own, unless said otherwise. */
  budget?(operationId: string): string;
  /** What every request must be, whatever it asks; throws forbidden. Asked once the request is within its rate limit. */
  gate?(request: Request): void;
}

/** What is known about one request while it is answered. */
interface Exchange {
  deps: Deps;
  request: Request;
  response: Response;
  /** As handed to openapi-backend; its body is set once the caller is known. */
  apiRequest: ApiRequest;
  rawBody: Buffer;
  clientIp: string;
  admission: Admission;
  gateway: Gateway | null;
  key: CallingKey | null;
  keyed?: Keyed;
  replay?: StoredReply;
}

type AnyOperation = (deps: Deps, call: object) => Promise<Reply>;

/**
 * Serves one OpenAPI file. The order of checks is that of decisions 8: rate limit, gate, route, size, security, the
 * gateway's arrangement (or, without a key, the payment's allowlist), idempotency, body, then the operation; every failure leaves through the envelope.
 */
export async function contractRouter(deps: Deps, routes: ContractRoutes): Promise<RequestHandler> {
  const { budget = (id) => id } = routes;
  const backend = new OpenAPIBackend({
    definition: routes.document,
    apiRoot: routes.apiRoot,
    quick: true,
    strict: true,
    coerceTypes: true,
    validate: (_context, exchange: Exchange) => exchange.replay === undefined,
    ajvOpts: { strict: false, verbose: true },
    customizeAjv: (_ajv, options) => createAjv(options),
    securityHandlers: Object.fromEntries(
      Object.entries(routes.schemes).map(([name, scheme]) => [name, (context: Context, exchange: Exchange) => identify(context, exchange, name, scheme)]),
    ),
  });
  await backend.init();
  quicken(backend.router);
  // Registered last: before, the router lists all operations anew for each of them.
  backend.register({
    ...Object.fromEntries(
      Object.entries(routes.operations).map(([id, operation]) => [
        id,
        (context: Context, exchange: Exchange) => answer(context, exchange, operation as AnyOperation),
      ]),
    ),
    notFound: () => {
      throw new ServiceError('not_found');
    },
    methodNotAllowed: (_context: Context, exchange: Exchange) => {
      exchange.response.setHeader('Allow', allowed(backend, exchange.apiRequest));
      throw new ServiceError('method_not_allowed');
    },
    unauthorizedHandler: (context: Context) => {
      throw refusal(context);
    },
    postSecurityHandler: (context: Context, exchange: Exchange) => prepare(context, exchange, routes),
    validationFail: (context: Context) => {
      const errors = context.validation.errors ?? [];
      const problem = errors.find((error) => !isInPath(error));
      throw problem === undefined ? new ServiceError('not_found') : validationProblem(problem);
    },
  });

  return (request: Request, response: Response, next: NextFunction) => {
    const path = request.baseUrl + decodable(request.path);
    const operation = backend.matchOperation({ method: request.method, path, headers: {} });
    notesOf(response).route = operation === undefined ? 'other' : `${routes.apiRoot}${operation.path}`;
    const ip = clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES);
    const serve = async (): Promise<void> => {
      const apiRequest: ApiRequest = { method: request.method, path, headers: request.headers as ApiRequest['headers'], query: knownQuery(request, operation) };
      const { params } = backend.router.parseRequest({ method: request.method, path, headers: {}, query: {} }, operation);
      const admission = await admit(deps, { request, clientIp: ip, operation, budget, params });
      routes.gate?.(request);
      const exchange: Exchange = {
        deps: { ...deps, log: deps.log.child({ requestId: notesOf(response).requestId }), knownServer: () => admission.prove() },
        request,
        response,
        apiRequest,
        rawBody: await readBody(request, response),
        clientIp: ip,
        admission,
        gateway: null,
        key: null,
      };
      await backend.handleRequest(apiRequest, exchange);
    };
    const { requestId, route } = notesOf(response);
    const traced = async (): Promise<void> => {
      Object.assign(notesOf(response), traceIds());
      await serve();
    };
    withSpan(`${request.method} ${route}`, { requestId, route }, traced, { kind: 'server' }).catch((error: unknown) => {
      noteRefusal(deps, error, { operation: operation?.operationId ?? 'unknown', clientIp: ip });
      next(error);
    });
  };
}

/**
 * Ajv for JSON Schema 2020-12, which OpenAPI 3.1 uses, with formats as strict as the contract means them. It takes schemas as they are:
 * the contract files are linted, and compiling the schema of schemas would take most of a process's first request.
 */
export function createAjv(options: object): Ajv2020 {
  const ajv = new Ajv2020({ ...options, validateSchema: false });
  addFormats.default(ajv);
  ajv.addFormat('uuid', isUuid);
  ajv.addFormat('uri', isHttpUrl);
  return ajv;
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && parseUrl(text) !== null;
}

async function identify(context: Context, exchange: Exchange, name: string, scheme: Scheme): Promise<{ gateway: Gateway | null }> {
  const requirement = context.operation.security?.find((one) => name in one);
  const { request, response, rawBody, clientIp: ip } = exchange;
  const { requestId } = notesOf(response);
  const recognise = (known: Caller): void => noteCaller(response, { ...known, operation: context.operation.operationId ?? 'unknown', address: ip });
  const caller = await scheme(exchange.deps, { request, rawBody, clientIp: ip, requestId, permissions: requirement?.[name] ?? [], recognise });
  exchange.gateway = caller.gateway;
  exchange.key = caller.key ?? null;
  if (caller.operator !== undefined) exchange.deps = { ...exchange.deps, operator: caller.operator };
  exchange.admission.prove();
  return caller;
}

function refusal(context: Context): unknown {
  for (const result of Object.values(context.security)) {
    const error = (result as { error?: unknown } | null | undefined)?.error;
    if (error !== undefined) return error;
  }
  return new ServiceError('auth_api_key_invalid');
}

/** After security, before validation: the gateway's arrangement or the payment's allowlist, the Idempotency-Key, then the body (decisions 8). */
async function prepare(context: Context, exchange: Exchange, { arrangements, strangers }: Pick<ContractRoutes, 'arrangements' | 'strangers'>): Promise<void> {
  const { operation, security } = context;
  if ((operation.security ?? []).length > 0 && !security.authorized) return;
  const { deps, request, rawBody, gateway, clientIp: ip } = exchange;
  const id = operation.operationId ?? '';
  if (gateway !== null) arrangements?.[id]?.(gateway);
  else await strangers?.[id]?.(deps, { paymentId: String(context.request.params.paymentId), clientIp: ip });
  const header = parameters(operation).find((parameter) => parameter.in === 'header' && parameter.name === 'Idempotency-Key');
  const key = header === undefined || gateway === null ? undefined : idempotencyKey(request, header.required === true);
  if (key !== undefined && gateway !== null) {
    exchange.keyed = {
      scope: { gatewayId: gateway.id, operation: operation.operationId ?? '', key },
      fingerprint: fingerprint(request.method, request.baseUrl + request.path, rawBody),
      ...(operation.operationId === 'createSettlement' && { likeness: () => likenessOf(rawBody) }),
    };
    const replay = await findReplay(exchange.deps, exchange.keyed);
    if (replay !== undefined) {
      exchange.replay = replay;
      return;
    }
  }
  exchange.apiRequest.body = readJson(operation, request, rawBody);
}

function readJson(operation: Operation, request: Request, rawBody: Buffer): object | undefined {
  if (operation.requestBody === undefined) return undefined;
  if (rawBody.length === 0) {
    if ((operation.requestBody as { required?: boolean }).required !== true) return undefined;
    throw invalid('body', 'is required');
  }
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?;?$/i.test(request.headers['content-type'] ?? '')) throw new ServiceError('unsupported_media_type');
  const body = parseStrictJson(rawBody);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('body', 'must be a JSON object');
  return body;
}

async function answer(context: Context, exchange: Exchange, operation: AnyOperation): Promise<void> {
  const { deps, response, keyed } = exchange;
  if (exchange.replay !== undefined) return sendReplay(response, exchange.replay);
  refuseNul(context.request.params, context.request.query);
  const { commit, replayed } = committer(deps, keyed);
  const { requestId } = notesOf(response);
  const call = {
    params: context.request.params,
    query: context.request.query,
    body: context.request.requestBody,
    sent: () => new SentJson(exchange.rawBody.toString('utf8')),
    gateway: exchange.gateway,
    key: exchange.key,
    clientIp: exchange.clientIp,
    requestId,
    commit,
  };
  const reply = await withSpan(context.operation.operationId ?? 'request', { requestId }, () => operation(deps, call));
  const stored = replayed();
  if (stored !== undefined) return sendReplay(response, stored);
  if (keyed !== undefined) notesOf(response).idempotency = 'new';
  if (reply.file !== undefined) return sendFile(deps, exchange.request, response, reply.file);
  send(response, reply.status, reply.body ?? successBody(reply.data));
}

/** No text column holds U+0000: a name with it is unknown, a filter with it is invalid. */
function refuseNul(params: Context['request']['params'], query: Context['request']['query']): void {
  if (Object.values(params).some((value) => String(value).includes('\0'))) throw new ServiceError('not_found');
  const name = Object.keys(query).find((key) => String(query[key]).includes('\0'));
  if (name !== undefined) throw invalid(name, 'must not contain U+0000');
}

function sendReplay(response: Response, stored: StoredReply): void {
  notesOf(response).idempotency = 'replay';
  send(response, stored.status, stored.body, { 'Idempotency-Replayed': 'true' });
}

/** A path with a broken percent escape stays routable, so that its id is unknown instead of an error of its own. */
function decodable(path: string): string {
  try {
    decodeURIComponent(path);
    return path;
  } catch {
    return path.replaceAll('%', '%25');
  }
}

/** Unknown query parameters are ignored, like unknown body fields (decisions 8). */
function knownQuery(request: Request, operation: Operation | undefined): Record<string, string | string[]> {
  if (operation === undefined || !request.url.includes('?')) return {};
  const known = new Set(
    parameters(operation)
      .filter((one) => one.in === 'query')
      .map((one) => one.name),
  );
  return Object.fromEntries(Object.entries(request.query as Record<string, string | string[]>).filter(([name]) => known.has(name)));
}

function parameters(operation: Operation): { in: string; name: string; required?: boolean }[] {
  return (operation.parameters ?? []) as { in: string; name: string; required?: boolean }[];
}

function allowed(backend: OpenAPIBackend, request: ApiRequest): string {
  return METHODS.filter((method) => backend.matchOperation({ ...request, method }) !== undefined)
    .map((method) => method.toUpperCase())
    .join(', ');
}

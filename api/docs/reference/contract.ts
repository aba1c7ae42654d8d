/** A schema of a contract, as far as it is drawn. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  example?: unknown;
  deprecated?: boolean;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
}

export interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { $ref?: string; summary?: string; value?: unknown }>;
}

interface Response {
  $ref?: string;
  description: string;
  content?: { 'application/json'?: Media };
}

interface RawOperation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: { 'application/json'?: Media } };
  responses: Record<string, Response>;
}

/** A contract file, parsed. */
export interface Contract {
  info: { title: string; version: string; summary?: string; description?: string };
  tags?: { name: string; description?: string }[];
  security?: Record<string, string[]>[];
  paths: Record<string, Record<string, RawOperation | Parameter[]>>;
  webhooks?: Record<string, Record<string, RawOperation>>;
}

/** How a caller proves who it is: with a key, with a key and a signature, with the operator's token, or not at all. */
export type Scheme = 'apiKey' | 'signedRequest' | 'operatorToken' | 'none';

export interface Answer {
  status: string;
  description: string;
  media: Media | undefined;
}

/** One operation with everything that stands elsewhere in the file put in its place. */
export interface Operation {
  id: string;
  slug: string;
  method: string;
  path: string;
  group: string;
  summary: string;
  description: string;
  scheme: Scheme;
  permissions: readonly string[];
  parameters: readonly Parameter[];
  body: { required: boolean; media: Media } | undefined;
  answers: readonly Answer[];
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

/** What a `$ref` leads to, or the thing itself. Pure. @throws Error when it leads nowhere */
export function resolved<T extends { $ref?: string }>(contract: Contract, node: T): T {
  if (node.$ref === undefined) return node;
  const found = node.$ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], contract);
  if (found === undefined) throw new Error(`${node.$ref} leads nowhere`);
  return resolved(contract, found as T);
}

/** Every operation, in the order of the file. Pure. */
export function operationsOf(contract: Contract): Operation[] {
  return Object.entries(contract.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, raw]) => {
      return !METHODS.has(method) || Array.isArray(raw) ? [] : [operationOf(contract, { path, method, raw, shared: sharedParameters(item.parameters) })];
    }),
  );
}

function sharedParameters(value: RawOperation | Parameter[] | undefined): Parameter[] {
  return Array.isArray(value) ? value : [];
}

function operationOf(contract: Contract, { path, method, raw, shared }: { path: string; method: string; raw: RawOperation; shared: Parameter[] }): Operation {
  const [scheme, permissions] = Object.entries((raw.security ?? contract.security ?? [])[0] ?? {})[0] ?? ['none', []];
  const id = raw.operationId ?? `${method} ${path}`;
  const media = raw.requestBody?.content['application/json'];
  return {
    id,
    slug: id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    method: method.toUpperCase(),
    path,
    group: raw.tags?.[0] ?? '',
    summary: raw.summary ?? id,
    description: raw.description ?? '',
    scheme: scheme as Scheme,
    permissions,
    parameters: [...shared, ...(raw.parameters ?? [])].map((parameter) => resolved(contract, parameter)),
    body: media === undefined ? undefined : { required: raw.requestBody?.required ?? false, media },
    answers: Object.entries(raw.responses).map(([status, answer]) => {
      const { description, content } = resolved(contract, answer);
      return { status, description, media: content?.['application/json'] };
    }),
  };
}

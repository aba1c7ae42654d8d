import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { DEFAULT_PERMISSIONS } from '#api/gateways/keys.ts';
import type { Entry } from './catalogue.ts';
import type { Answer, Client } from './client.ts';
import { EXAMPLES, type Example, GATEWAYS, type OperationId } from './examples.ts';
import { aService, callerOf, type Service, type Shop, type SignedAsk } from './service.ts';

/** What a block works with. `service` and `shop` are alive inside tests and hooks, not while tests are registered. */
export interface Context {
  entry: Entry;
  service: Service;
  /** The gateway of this file, set up so that the operation succeeds on it. */
  shop: Shop;
  /** A new gateway with the same settings. */
  anotherShop(): Promise<Shop>;
  /** A request of `of` (the file's shop when omitted) that succeeds. */
  example(of?: Shop): Promise<Example>;
  /** Sends the operation as its scheme wants it: without a key, with one, or signed; unknown ids and an empty body where none are given. */
  send(sending?: Sending): Promise<Answer>;
}

export interface Sending extends Example, Omit<SignedAsk, 'body'> {
  /** With its question mark. */
  query?: string;
  /** Whose credentials; the file's shop when omitted. */
  from?: Shop;
  /** Another listener than the file's. */
  through?: Client;
}

/** What an operation's file may say about its context. */
export interface Options {
  /** Goes over the settings of the file's gateway. */
  gateway?: Record<string, unknown>;
  /** In place of the operation's own in examples.ts. */
  example?(service: Service, shop: Shop): Promise<Example>;
}

/** Starts one service and one shop for the file, and stops them. */
export function aContext(entry: Entry, options: Options = {}): Context {
  const id = entry.id as OperationId;
  const started: { service?: Service; shop?: Shop } = {};
  const settings = { ...GATEWAYS[id], ...options.gateway };
  const defaults: readonly (string | null)[] = DEFAULT_PERMISSIONS;
  const byName = entry.permission === null || defaults.includes(entry.permission) ? [] : [entry.permission];
  beforeAll(async () => {
    started.service = await aService();
    started.shop = await started.service.aShop(settings, byName);
  });
  afterAll(() => started.service?.stop());
  const service = once(() => started.service);
  const shop = once(() => started.shop);
  return {
    entry,
    service,
    shop,
    anotherShop: () => service.aShop(settings, byName),
    example: (of = shop) => (options.example ?? EXAMPLES[id])(service, of),
    send({ params = {}, query = '', from = shop, through = service.ask, idempotencyKey, ...given } = {}) {
      const ask = entry.takesBody && given.raw === undefined ? { body: {}, ...given } : given;
      const path = `${entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? randomUUID())}${query}`;
      if (entry.scheme === null) return through(entry.method, `/api/v1${path}`, ask);
      const caller = callerOf(through, from);
      const key = entry.idempotencyKey === 'required' ? idempotencyKey : (idempotencyKey ?? null);
      if (entry.scheme === 'signedRequest') return caller.signed(entry.method, path, { ...ask, ...(key === undefined ? {} : { idempotencyKey: key }) });
      const header: Record<string, string> = key === null || key === undefined ? {} : { 'idempotency-key': key };
      return caller.call(entry.method, path, { ...ask, headers: { ...header, ...ask.headers } });
    },
  };
}

/** Stands for an object that a hook will make. */
function once<T extends object>(find: () => T | undefined): T {
  return new Proxy({} as T, {
    get(_, name) {
      const found = find();
      if (found === undefined) throw new Error('the service starts before the first test, not while tests are registered');
      return Reflect.get(found, name);
    },
  });
}

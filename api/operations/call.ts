import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import type { CallingKey } from '#api/gateways/keys.ts';
import type { SentJson } from '#shared/core/sent-json.ts';

/** The path parameters, query and body an operation of a generated contract takes; bodies and paths arrive validated. */
type PathOf<O> = O extends { parameters: { path: infer P } } ? P : Record<never, string>;
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : Record<never, unknown>;
type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? B : undefined;

/** One validated call of the operation `O` of a contract. */
export interface Call<O, Caller> {
  params: PathOf<O>;
  query: QueryOf<O>;
  body: BodyOf<O>;
  /** The body as it came, for what of it is given back as it was sent. */
  sent: () => SentJson;
  /** Who calls: the gateway of the API key, or null where the contract asks for no key. */
  gateway: Caller;
  /** The key it was called with; null where the contract asks for none. */
  key: Caller extends null ? null : CallingKey;
  /** Canonical source address (decisions 8). */
  clientIp: string;
  /** Id of the request in the logs. */
  requestId: string;
  /** The one transaction of the call; it also serves the Idempotency-Key. */
  commit: Commit;
}

/** What answers one operation: it adapts the call to a use case and nothing else. */
export type Operation<O, Caller> = (deps: Deps, call: Call<O, Caller>) => Promise<Reply>;

/** Operations without a key: the payment's id is the credential (contract 5.7). */
type Public = 'getPublicPayment' | 'selectOffer' | 'expirePayment' | 'simulateSandboxPayment' | 'openPaymentSocket';

/** One function for every operationId of a contract file, so that a missing one does not compile. */
export type Registry<Operations> = { [Id in keyof Operations]: Operation<Operations[Id], Id extends Public ? null : Gateway> };

/** The same for the operator API, which no gateway calls. */
export type OperatorRegistry<Operations> = { [Id in keyof Operations]: Operation<Operations[Id], null> };

/** The same for the checkout's own channel, where the payment's id is the credential. */
export type CheckoutRegistry<Operations> = { [Id in keyof Operations]: Operation<Operations[Id], null> };

/** The reply that most operations give. */
export async function ok(data: Promise<NonNullable<Reply['data']>>): Promise<Reply> {
  return { status: 200, data: await data };
}

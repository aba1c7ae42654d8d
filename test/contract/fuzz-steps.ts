import fc from 'fast-check';
import { CATALOGUE } from './catalogue.ts';
import type { OperationId } from './examples.ts';
import { hostile, type Mutation, mutation } from './hostile.ts';

/** What a path parameter is filled with. */
export interface Target {
  of: 'own' | 'other' | 'crossed' | 'unknown' | 'hostile';
  index: number;
  text: string;
}

/** How a body is made: what the operation accepts, what its schema allows, or neither; then broken in some places; then as text. */
export interface Body {
  from: 'accepted' | 'schema' | 'value';
  seed: number;
  value: unknown;
  mutations: Mutation[];
  text: 'as it is' | 'duplicate' | 'cut' | 'trailing' | 'deep' | 'numbers' | 'long' | 'too long' | 'bytes' | 'empty' | 'spaced';
}

/** One request, still without the ids that only the session knows. */
export interface Asked {
  kind: 'ask';
  operation: OperationId;
  /** Which of the two gateways calls. */
  actor: 0 | 1;
  targets: Target[];
  body: Body;
  query: [string, string][];
  credentials: 'own' | 'none' | 'unknown' | 'other secret' | 'stale' | 'unsigned';
  key: { how: 'fresh' | 'replay' | 'reuse' | 'none' | 'odd'; index: number; text: string };
  header: [string, string] | null;
  twist: 'none' | 'method' | 'path';
}

/** Somebody pays one of the actor's deposit addresses. */
export interface Paid {
  kind: 'pay';
  actor: 0 | 1;
  index: number;
  symbol: string;
  amount: string;
}

/** The service clock moves. */
export interface Waited {
  kind: 'wait';
  seconds: number;
}

/** One thing that happens in a session. */
export type Step = Asked | Paid | Waited;

const actor = fc.constantFrom<0 | 1>(0, 1);
const often = <T>(weight: number, value: T): { weight: number; arbitrary: fc.Arbitrary<T> } => ({ weight, arbitrary: fc.constant(value) });
const text = fc.oneof(
  fc.constantFrom(
    'x',
    '0',
    '-1',
    '%00',
    '%E0%A4%A',
    'a%2Fb',
    '%F0%9F%9C%81',
    "1'%20or%20'1'='1",
    '{}',
    '%7B%22$ne%22:null%7D',
    '*',
    '..%2F..',
    'null',
    '%0d%0aX:1',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }).map((one) => encodeURIComponent(one)),
  fc.constant('y'.repeat(3_000)),
);

const target: fc.Arbitrary<Target> = fc.record({
  of: fc.oneof(
    often<Target['of']>(10, 'own'),
    often<Target['of']>(5, 'other'),
    often<Target['of']>(1, 'crossed'),
    often<Target['of']>(1, 'unknown'),
    often<Target['of']>(2, 'hostile'),
  ),
  index: fc.nat(30),
  text,
});

const body: fc.Arbitrary<Body> = fc.record({
  from: fc.oneof(often<Body['from']>(12, 'accepted'), often<Body['from']>(4, 'schema'), often<Body['from']>(1, 'value')),
  seed: fc.nat(1_000_000),
  value: hostile,
  mutations: fc.oneof(often<Mutation[]>(4, []), { weight: 5, arbitrary: fc.array(mutation, { maxLength: 3 }) }),
  text: fc.oneof(
    often<Body['text']>(40, 'as it is'),
    ...(['duplicate', 'cut', 'trailing', 'deep', 'numbers', 'long', 'too long', 'bytes', 'empty', 'spaced'] as const).map((one) => often<Body['text']>(1, one)),
  ),
});

/** `@own` and `@other` are cursors that lists answered before. */
const query: fc.Arbitrary<[string, string]> = fc.tuple(
  fc.constantFrom('status', 'limit', 'page', 'after', 'statusOnly', 'x', '__proto__', 'status[]', 'limit[a]', 'gatewayId'),
  fc.oneof(
    fc.constantFrom('', '0', '1', '2', '100', '101', '-1', '1e9', '1.0', ' 1', 'true', 'false', 'TRUE', 'null', '%', '\0', '@own', '@other', '@other'),
    fc.constantFrom('SETTLED', 'REQUESTED', 'SUCCESS', 'PENDING', 'EXPIRED', 'success'),
    fc.string({ unit: 'binary', maxLength: 20 }),
  ),
);

const printable = fc.string({ maxLength: 12 }).filter((one) => /^[\x20-\x7e]*$/.test(one));

const asked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constant('ask' as const),
  operation: fc.constantFrom(...CATALOGUE.map((entry) => entry.id as OperationId)),
  actor,
  targets: fc.tuple(target, target),
  body,
  query: fc.oneof(often<[string, string][]>(3, []), { weight: 2, arbitrary: fc.array(query, { maxLength: 3 }) }),
  credentials: fc.oneof(
    often<Asked['credentials']>(40, 'own'),
    ...(['none', 'unknown', 'other secret', 'stale', 'unsigned'] as const).map((one) => often<Asked['credentials']>(1, one)),
  ),
  key: fc.record({
    how: fc.oneof(often<Asked['key']['how']>(6, 'fresh'), ...(['replay', 'reuse', 'none', 'odd'] as const).map((one) => often<Asked['key']['how']>(1, one))),
    index: fc.nat(30),
    text: fc.oneof(printable, fc.constantFrom('x'.repeat(255), 'x'.repeat(256), 'caf\u00e9', ' ', '0')),
  }),
  header: fc.oneof(often<Asked['header']>(12, null), {
    weight: 1,
    arbitrary: fc.constantFrom<[string, string][]>(
      ['content-type', 'text/plain'],
      ['content-type', 'application/json; charset=utf-16'],
      ['content-encoding', 'gzip'],
      ['x-forwarded-for', '203.0.113.7'],
      ['forwarded', 'for=203.0.113.7'],
      ['accept', 'text/html'],
      ['x-http-method-override', 'DELETE'],
      ['range', 'bytes=0-1'],
      ['if-none-match', '*'],
    ),
  }),
  twist: fc.oneof(often<Asked['twist']>(40, 'none'), often<Asked['twist']>(1, 'method'), often<Asked['twist']>(1, 'path')),
});

const paid: fc.Arbitrary<Paid> = fc.record({
  kind: fc.constant('pay' as const),
  actor,
  index: fc.nat(30),
  symbol: fc.constantFrom('USDT', 'USDT', 'USDC', 'ETH'),
  amount: fc.constantFrom('10', '10.5', '9.99', '9', '0.000001', '0.004', '1000', '100000000'),
});

const waited: fc.Arbitrary<Waited> = fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 61, 3_601, 90_000) });

/** One session: what happens to a service with two gateways, in this order. */
export function session(length: number): fc.Arbitrary<Step[]> {
  const step = fc.oneof({ weight: 30, arbitrary: asked }, { weight: 2, arbitrary: paid }, { weight: 1, arbitrary: waited });
  return fc.array<Step>(step, { minLength: length, maxLength: length });
}

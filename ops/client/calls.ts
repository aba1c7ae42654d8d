import type { operations } from '#api/contract/types.ts';
import type { OperationId } from './operations.ts';

/** Everything a call can name: what stands in its path, what is asked for in its query, its body, its Idempotency-Key. */
export type InputOf<Id extends OperationId> = Path<operations[Id]['parameters']> &
  Query<operations[Id]['parameters']> &
  Body<operations[Id]> &
  Key<operations[Id]['parameters']>;

/** The `data` of a successful answer; of one that is a file, its text. */
export type DataOf<Id extends OperationId> = operations[Id]['responses'] extends infer Responses
  ? DataIn<Responses[keyof Responses & (200 | 201 | 202)]>
  : never;

/** One method per operation of the contract; those that need nothing are called with nothing. */
export type Calls = {
  [Id in OperationId]: Record<never, never> extends InputOf<Id> ? (input?: InputOf<Id>) => Promise<DataOf<Id>> : (input: InputOf<Id>) => Promise<DataOf<Id>>;
};

type DataIn<Answer> = Answer extends { content: { 'application/json': { data: infer Data } } }
  ? Data
  : Answer extends { content: { 'text/csv': infer File } }
    ? File
    : never;
type Present<Names> = Exclude<Names, undefined>;
/** `never` is how the contract's types say that there is none. */
type Unless<Names, Then> = [Present<Names>] extends [never] ? unknown : Then;
type Path<Parameters> = Parameters extends { path: infer Names } ? Unless<Names, Names> : unknown;
type Query<Parameters> = Parameters extends { query?: infer Names } ? Unless<Names, Present<Names>> : unknown;
type Body<Described> = Described extends { requestBody: { content: { 'application/json': infer Sent } } } ? { body: Sendable<Sent> } : unknown;
type Key<Parameters> = Parameters extends { header?: infer Names }
  ? Unless<Names, 'Idempotency-Key' extends keyof Present<Names> ? { idempotencyKey?: string } : unknown>
  : unknown;
/** What may be null may be left out: the contract reads both alike. */
type Sendable<Sent> = { [Name in keyof Sent as null extends Sent[Name] ? never : Name]: Sent[Name] } & {
  [Name in keyof Sent as null extends Sent[Name] ? Name : never]?: Sent[Name];
};

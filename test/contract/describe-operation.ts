import { describe, expect, it } from 'vitest';
import type { operations } from '#api/contract/types.ts';
import { CATALOGUE, type Entry } from './catalogue.ts';
import { generalCases } from './common-cases.ts';
import { aContext, type Context, type Options } from './context.ts';
import type { OperationId } from './examples.ts';

/** Statuses the contract file lists for an operation. */
type Listed<Id extends OperationId> = Extract<keyof operations[Id]['responses'], number>;
type TakesKey<Id extends OperationId> = operations[Id]['parameters'] extends { header?: infer Headers }
  ? [NonNullable<Headers>] extends [never]
    ? false
    : 'Idempotency-Key' extends keyof NonNullable<Headers>
      ? true
      : false
  : false;
/** Those that common-cases.ts proves for every operation that lists them. */
type General<Id extends OperationId> =
  | Extract<Listed<Id>, 400 | 401 | 403 | 404 | 413 | 415 | 429 | 500 | 503>
  | (TakesKey<Id> extends true ? Extract<Listed<Id>, 409> : never);

/** Registers the cases of one status of one operation. */
export type Block = (context: Context) => void;
/** One block per listed status; the general ones may be left out, and what is given for them comes on top. A status missing or too many does not compile. */
export type Blocks<Id extends OperationId> = { [S in Exclude<Listed<Id>, General<Id>>]: Block } & { [S in General<Id>]?: Block };

/**
 * The contract test of one operation: starts one service for the file and registers one `describe` for every status that
 * the contract file lists, with the general cases and those given. Call it once, at the top of the operation's file.
 */
export function describeOperation<Id extends OperationId>(id: Id, blocks: NoInfer<Blocks<Id>>, options: Options = {}): void {
  const entry = CATALOGUE.find((one) => one.id === id) as Entry;
  describe(id, () => {
    const context = aContext(entry, options);
    const general = generalCases(context);
    const own = blocks as Partial<Record<string, Block>>;
    const statuses = [...new Set([...Object.keys(general), ...Object.keys(own)])].sort();
    for (const status of statuses)
      describe(status, () => {
        general[Number(status)]?.();
        own[status]?.(context);
      });

    it('has cases for exactly the statuses that the contract lists', ({ task }) => {
      expect(statuses).toEqual([...entry.statuses].sort());
      const empty = (task.suite?.tasks ?? []).filter((one) => one.type === 'suite' && one.tasks.length === 0);
      expect(empty.map((one) => one.name)).toEqual([]);
    });
  });
}

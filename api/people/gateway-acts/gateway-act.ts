import * as z from 'zod';
import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import type { Act } from '../step-up.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/** What an act needs to be done: whose gateway it is, who does it, and the one transaction in which they still may. */
interface Doing<Fields> {
  gateway: Gateway;
  fields: Fields;
  /** What was agreed to; nothing where a session is enough. */
  agreed: Act['content'];
  personId: string;
  email: string;
  role: string;
  permissions: readonly string[];
  /** Where they are. */
  address: string;
  commit: Commit;
}

export interface GatewayAct<Fields> {
  /** What the person's role must allow. */
  permission: string;
  /** Fields of its form. */
  fields: z.ZodType<Fields>;
  /** Id of what it is done to, for the log of people's acts. */
  target(fields: Fields): string;
  /** Everything that a person agrees to who proves that they want it; absent where a session is enough. */
  agreed?(deps: Deps, asked: { gateway: Gateway; fields: Fields; personId: string }): Promise<Act['content']>;
  /** What it was and what it becomes, for the record of acts, where that is said apart from what is agreed to. */
  noted?(fields: Fields): { before?: object; after: object };
  /** Through the same use case as the merchant operation: there is no second way. Answers what is shown once. */
  run(deps: Deps, doing: Doing<Fields>): Promise<object>;
}

/** A form that only says which row. */
export const ofId = z.strictObject({ id: z.uuid() });

/** The language of whoever sends a form, which their mail is in. */
export const languageTag = z.string().regex(/^[A-Za-z-]{2,35}$/);

/** Lets each act be written with the type of its own fields, and be done with fields that its own shape let through. */
export function act<Fields>(one: GatewayAct<Fields>): GatewayAct<unknown> {
  return one as GatewayAct<unknown>;
}

/** Says that somebody does this, where what they do has transactions of its own. */
export function noted(commit: Commit): Promise<Reply> {
  return commit(async () => ({ status: 200, data: {} }));
}

/** Does it in the transaction in which the person still may, and shows nothing. */
export function inOne(commit: Commit, work: (tx: Tx) => Promise<unknown>): Promise<object> {
  return nothing(
    commit(async (tx) => {
      await work(tx);
      return { status: 200, data: {} };
    }),
  );
}

/** Waits for it, and shows nothing of what it answers. */
export async function nothing(work: Promise<unknown>): Promise<object> {
  await work;
  return {};
}

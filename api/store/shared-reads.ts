import type { Database } from '#shared/platform/postgres.ts';
import { together } from '#shared/platform/together.ts';
import { listActiveAssets, listCurrencies, type StoredAsset } from './assets.ts';
import { findApiKeys, type StoredApiKey } from './gateways.ts';
import { findStoredReplies, type IdempotencyScope, nameOfScope, scopeOf, type StoredReply } from './idempotency.ts';

/**
 * What nearly every request asks first. Requests of one moment share a statement, and each still gets what was true after it asked: nothing is
 * remembered. Locks nothing.
 */
export interface SharedReads {
  /** A key by its public half, with its gateway; revoked ones included. */
  apiKey(id: string): Promise<StoredApiKey | undefined>;
  /** True when payments may be priced in `code` (upper case). */
  isActiveCurrency(code: string): Promise<boolean>;
  /** The reply kept under an Idempotency-Key; undefined when none was committed. */
  storedReply(scope: IdempotencyScope): Promise<StoredReply | undefined>;
  /** The active assets among `ids` (all active ones when null), as a gateway's settings name them, by network and symbol. */
  enabledAssets(ids: readonly string[] | null): Promise<StoredAsset[]>;
}

const ofDatabase = new WeakMap<Database, SharedReads>();

/** The reads that share statements on one connected database. */
export function sharedReads(db: Database): SharedReads {
  const known = ofDatabase.get(db);
  if (known !== undefined) return known;
  const apiKey = together(async (ids) => new Map((await findApiKeys(db.sql, ids)).map((key) => [key.id, key])));
  const replies = together(async (names) => findStoredReplies(db.sql, names.map(scopeOf)));
  // Both tables are short, so that all of one costs what a part of it does.
  const currencies = together(async () => new Map([['', new Set((await listCurrencies(db.sql)).flatMap(({ code, active }) => (active ? [code] : [])))]]));
  const assets = together(async () => new Map([['', await listActiveAssets(db.sql)]]));
  const reads: SharedReads = {
    apiKey,
    storedReply: (scope) => replies(nameOfScope(scope)),
    isActiveCurrency: async (code) => (await currencies(''))?.has(code) === true,
    async enabledAssets(ids) {
      const active = (await assets('')) ?? [];
      const named = ids === null ? undefined : new Set(ids);
      return active.filter(({ id }) => named?.has(id) ?? true);
    },
  };
  ofDatabase.set(db, reads);
  return reads;
}

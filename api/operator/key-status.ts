import type { Deps, Reply } from '#api/deps.ts';
import { countApiKeysByPepper, countSecretsByKey } from '#api/store/gateways.ts';
import { listKeyedOrders, countOrdersByKey } from '#api/store/keyed-orders.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { type KeyRing, keyId, masterKeys, peppers } from '#shared/platform/key-ring.ts';
import { publicHalf, trustedKeys } from '#shared/platform/statements.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readReason } from './input.ts';
import { resealEverything, stateOf } from './reseal.ts';

/** How much is stored under which key of a ring; `other` is under none of them, or nobody looked yet. */
interface UnderKeys {
  current: number;
  next: number;
  previous: number;
  other: number;
}

/** GET /secrets: which keys this process has, by their ids, and what still needs the previous ones. */
export async function showSecrets(deps: Deps): Promise<Reply> {
  return { status: 200, data: await keyStatus(deps) };
}

/** POST /secrets/reseal: what the workers do every minute, now; answers when it is done, with what is left. */
export async function resealNow(deps: Deps, call: OperatorCall): Promise<Reply> {
  const reason = readReason(fieldsOf(call.body));
  const resealed = await resealEverything(deps);
  const details = { ...resealed, key: keyId(masterKeys(deps.config).current) };
  await deps.db.transaction((tx) => insertOperatorAction(tx, deps.operator, { action: 'secrets.reseal', target: 'master-key', reason, details }));
  return { status: 200, data: { resealed, ...(await keyStatus(deps)) } };
}

async function keyStatus(deps: Deps): Promise<object> {
  const [master, pepper] = [masterKeys(deps.config), peppers(deps.config)];
  const secrets = sumByKey(master, await countSecretsByKey(deps.db.sql));
  const keys = await countApiKeysByPepper(deps.db.sql);
  const apiKeys = sumByKey(pepper, keys);
  const orders: UnderKeys = { current: 0, next: 0, previous: 0, other: 0 };
  for (const order of await listKeyedOrders(deps.db.sql)) {
    const state = await stateOf(deps, master, order);
    if (state !== undefined) orders[state === 'none' ? 'other' : state] += 1;
  }
  const intents = await intentStatus(deps);
  return {
    masterKey: { ...idsOf(master), secrets, orders },
    apiKeyPepper: { ...idsOf(pepper), apiKeys },
    intentKeys: intents,
    streamKeyPrevious: deps.config.SLUICE_STREAM_KEY_PREVIOUS !== undefined,
    operatorTokenPrevious: deps.config.SLUICE_OPERATOR_TOKEN_PREVIOUS !== undefined,
    settled:
      [secrets, orders].every((one) => one.previous === 0 && one.other === 0) &&
      apiKeys.previous === 0 &&
      intents.every((one) => one.current || one.orders === 0),
  };
}

/** Every key that says what was accepted, as far as this process trusts it or an order that is not over carries it. */
async function intentStatus({ db, config }: Deps): Promise<{ publicKey: string; current: boolean; trusted: boolean; orders: number }[]> {
  const own = config.SLUICE_INTENT_KEY === undefined ? null : publicHalf(config.SLUICE_INTENT_KEY);
  const trusted = trustedKeys(config);
  const counted = new Map((await countOrdersByKey(db.sql)).map(({ key, orders }) => [key, orders]));
  return [...new Set([...trusted, ...counted.keys()])].map((publicKey) => ({
    publicKey,
    current: publicKey === own,
    trusted: trusted.includes(publicKey),
    orders: counted.get(publicKey) ?? 0,
  }));
}

function idsOf(ring: KeyRing): { current: string; next: string | null; previous: string | null } {
  const id = (key: string | undefined): string | null => (key === undefined ? null : keyId(key));
  return { current: keyId(ring.current), next: id(ring.next), previous: id(ring.previous) };
}

function sumByKey(ring: KeyRing, rows: readonly { key: string | null; count: number }[]): UnderKeys {
  const ids = idsOf(ring);
  const of = (id: string | null): number => (id === null ? 0 : (rows.find((row) => row.key === id)?.count ?? 0));
  const known = { current: of(ids.current), next: of(ids.next), previous: of(ids.previous) };
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  return { ...known, other: total - known.current - known.next - known.previous };
}

import { table } from './format.ts';

interface UnderKeys {
  current: number;
  next: number;
  previous: number;
  other: number;
}

interface KeyIds {
  current: string;
  next: string | null;
  previous: string | null;
}

/** How far a change of keys has come, as GET /secrets tells it. */
export interface KeyStatus {
  masterKey: KeyIds & { secrets: UnderKeys; orders: UnderKeys };
  apiKeyPepper: KeyIds & { apiKeys: UnderKeys };
  intentKeys: { publicKey: string; current: boolean; trusted: boolean; orders: number }[];
  streamKeyPrevious: boolean;
  operatorTokenPrevious: boolean;
  settled: boolean;
}

/** A change of keys as a table of what is stored under which, and what may be taken away. */
export function describeKeys({ masterKey, apiKeyPepper, intentKeys, streamKeyPrevious, operatorTokenPrevious, settled }: KeyStatus): string {
  const row = (what: string, ids: KeyIds, { current, next, previous, other }: UnderKeys): string[] => [
    what,
    `${current} (${ids.current})`,
    ids.next === null ? '-' : `${next} (${ids.next})`,
    ids.previous === null ? '-' : `${previous} (${ids.previous})`,
    String(other),
  ];
  const rows = [row('secrets', masterKey, masterKey.secrets), row('orders', masterKey, masterKey.orders), row('API keys', apiKeyPepper, apiKeyPepper.apiKeys)];
  const believed = [
    ...(masterKey.previous === null ? [] : ['SLUICE_MASTER_KEY_PREVIOUS']),
    ...(apiKeyPepper.previous === null ? [] : ['SLUICE_API_KEY_PEPPER_PREVIOUS']),
    ...(streamKeyPrevious ? ['SLUICE_STREAM_KEY_PREVIOUS'] : []),
    ...(operatorTokenPrevious ? ['SLUICE_OPERATOR_TOKEN_PREVIOUS'] : []),
  ];
  const advice = settled
    ? `nothing stored needs a previous key${believed.length === 0 ? '' : `; still believed: ${believed.join(', ')}`}`
    : 'something stored still needs a previous key, or opens under none: keep it';
  const accepted = intentKeys.map(({ publicKey, current, trusted, orders }) => [
    publicKey,
    current ? 'signs here' : trusted ? 'believed' : 'not believed',
    String(orders),
  ]);
  const tables = [
    table(['stored', 'current key', 'next key', 'previous key', 'other'], rows),
    table(['accepted under', 'this process', 'open orders'], accepted),
  ];
  return `${tables.join('\n\n')}\n\n${advice}`;
}

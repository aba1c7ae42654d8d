import type { OpsSearchScreen } from '#api/console/page/operator-model.ts';

type Hit = Omit<OpsSearchScreen['hits'][number], 'path'>;

/** Where a hit of the operator's search is shown, behind the operators' own path; null for what has no page. Pure. */
export function pathOfHit({ kind, id, gatewayId }: Hit, q: string): string | null {
  switch (kind) {
    case 'payment':
      return `/payments/${id}`;
    case 'settlement':
      return `/cashouts/${id}`;
    case 'gateway':
      return `/gateways/${id}`;
    case 'deposit':
      return `/deposits?q=${id}`;
    case 'address':
      return gatewayId === null ? null : `/payments?q=${encodeURIComponent(q)}`;
    case 'payout':
      return null;
  }
}

/** Which of them is opened at once: the only one, of what is more than an address or a transfer of something else that was found. Pure. */
export function onlyHit(hits: readonly Hit[], more: boolean): Hit | undefined {
  const records = hits.filter(({ kind }) => kind === 'payment' || kind === 'settlement' || kind === 'gateway');
  const [first, second] = records.length > 0 ? records : hits;
  return more || second !== undefined ? undefined : first;
}

import type { Command } from './command.ts';
import { facts, table } from './format.ts';

interface Judgement {
  asset?: string;
  received?: string;
  expected?: string | null;
  price?: string;
  priceKind?: string;
  receivedUsd?: string;
  expectedUsd?: string;
  deviationUsd?: string | null;
  overUsd?: string;
  underUsd?: string;
  path?: string;
}

interface Shown {
  payment: Record<string, string | number | boolean | null>;
  offers: {
    assetSymbol: string;
    network: string;
    priceUsd: string;
    amount: string;
    txFee: string;
    commissionFee: string;
    totalValue: string;
    selectedAt: string | null;
    address: string | null;
  }[];
  credits: {
    pool: string;
    assetSymbol: string;
    gross: string;
    networkFee: string;
    commission: string;
    net: string;
    maturedAt: string | null;
    maturesAt: string;
  }[];
  timeline: { at: string; what: string; text: string; details: Judgement }[];
}

export const paymentCommands: readonly Command[] = [
  {
    name: 'payment show',
    args: '<id>',
    summary: 'what happened to a payment, and why it has the status it has',
    arity: [1, 1],
    async run(context, [id]) {
      const { operator } = await context();
      const shown = (await operator.must('GET', `/payments/${encodeURIComponent(id ?? '')}`)) as unknown as Shown;
      return { data: shown, text: describe(shown) };
    },
  },
];

function describe({ payment, offers, credits, timeline }: Shown): string {
  const head = facts({
    payment: payment.id,
    gateway: payment.gatewayId,
    status: payment.status,
    amount: `${payment.amount} ${payment.currencyCode}`,
    mode: payment.checkoutMode,
    created: payment.createdAt,
    expires: payment.expiresAt,
    verified: payment.verifiedAt ?? 'no',
  });
  const quoted = table(
    ['offer', 'network', 'price USD', 'principal', 'network fee', 'commission', 'to send', 'address'],
    offers.map((one) => [
      one.assetSymbol,
      one.network,
      one.priceUsd,
      one.amount,
      one.txFee,
      one.commissionFee,
      one.totalValue,
      one.address ?? (one.selectedAt === null ? '-' : 'being assigned'),
    ]),
  );
  const lines = timeline.flatMap((entry) => [
    `${entry.at}  ${entry.what.padEnd(8)}  ${entry.text}`,
    ...arithmetic(entry.details).map((line) => `${' '.repeat(36)}${line}`),
  ]);
  const credited = credits.map(
    (one) =>
      `credited ${one.gross} ${one.assetSymbol} − ${one.networkFee} network fee − ${one.commission} commission = ${one.net} ${one.assetSymbol}, ${one.pool} pool, ${one.maturedAt === null ? `matures ${one.maturesAt}` : 'matured'}`,
  );
  return [head, quoted, lines.join('\n'), ...(credited.length === 0 ? [] : [credited.join('\n')])].join('\n\n');
}

/** The judgement as sums a person can check; nothing for an entry that judged nothing. */
export function arithmetic(details: Judgement): string[] {
  const { asset, received, price, receivedUsd, expectedUsd } = details;
  if (asset === undefined || received === undefined || price === undefined || receivedUsd === undefined || expectedUsd === undefined) return [];
  const lines = [
    `received ${received} ${asset} × ${price} USD (${details.priceKind ?? 'price'}) = ${receivedUsd} USD`,
    `expected ${details.expected === null || details.expected === undefined ? '' : `${details.expected} ${asset} = `}${expectedUsd} USD`,
  ];
  if (details.deviationUsd !== null && details.deviationUsd !== undefined)
    lines.push(`deviation ${details.deviationUsd} USD; tolerated: ${details.overUsd ?? '0'} USD over, ${details.underUsd ?? '0'} USD under`);
  if (details.path !== undefined) lines.push(`path ${details.path}`);
  return lines;
}

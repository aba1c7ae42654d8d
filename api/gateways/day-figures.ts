import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { readClock } from '#api/store/clock.ts';
import { type DayFigure, type Days, listDayFigures, readFunnel } from '#api/store/day-figures.ts';
import { invalid } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';

type Schemas = components['schemas'];

interface Asked {
  gateway: Gateway;
  from?: string | undefined;
  to?: string | undefined;
  sandbox?: boolean | undefined;
}

const DAY_MS = 86_400_000;
const STEPS = ['created', 'opened', 'chosen', 'seen', 'paid'] as const;

/** What happened to the payments of a gateway on each day, those without anything too; the last two weeks unless it says otherwise. @throws validation_error naming from or to */
export async function readSeries(deps: Pick<Deps, 'db'>, asked: Asked): Promise<Schemas['Series']> {
  const days = await daysOf(deps, asked);
  const byDay = new Map<string, DayFigure[]>(everyDay(days).map((day) => [day, []]));
  for (const figure of await listDayFigures(deps.db.sql, days)) byDay.get(figure.day)?.push(figure);
  const items = [...byDay].map(([day, figures]) => dayView(day, figures));
  return { from: days.from, to: days.to, sandbox: days.sandbox, items };
}

/** Of the payments that were created on these days, how many came how far until now. @throws validation_error naming from or to */
export async function readGatewayFunnel(deps: Pick<Deps, 'db'>, asked: Asked): Promise<Schemas['Funnel']> {
  const days = await daysOf(deps, asked);
  const counts = await readFunnel(deps.db.sql, days);
  return { from: days.from, to: days.to, sandbox: days.sandbox, ...stepsOf(counts) };
}

function dayView(day: string, figures: readonly DayFigure[]): Schemas['SeriesDay'] {
  const received = figures.flatMap(({ what, assetId, asset, network, count, amount, usd }) =>
    what === 'received' && assetId !== null && asset !== null && network !== null ? [{ assetId, asset, network, payments: count, amount, amountUsd: usd }] : [],
  );
  return { day, ...stepsOf(figures), received };
}

function stepsOf(figures: readonly Pick<DayFigure, 'what' | 'count'>[]): Record<(typeof STEPS)[number], number> {
  return Object.fromEntries(STEPS.map((step) => [step, figures.find(({ what }) => what === step)?.count ?? 0])) as Record<(typeof STEPS)[number], number>;
}

async function daysOf({ db }: Pick<Deps, 'db'>, { gateway, from, to, sandbox = false }: Asked): Promise<Days> {
  const last = to === undefined ? Date.parse(dayAt((await readClock(db.sql)).now.getTime())) : readDay('to', to);
  const first = from === undefined ? last - (POLICY.seriesDays - 1) * DAY_MS : readDay('from', from);
  if (first > last) throw invalid('to', 'must not be before from');
  if (last - first >= POLICY.seriesDaysMaximum * DAY_MS) throw invalid('from', `must be at most ${POLICY.seriesDaysMaximum} days before to`);
  return { gatewayId: gateway.id, sandbox, from: dayAt(first), to: dayAt(last) };
}

/** A day as the milliseconds at which it begins. The years are those that are written with four digits everywhere. */
function readDay(field: 'from' | 'to', text: string): number {
  const at = /^(19|20|21)\d{2}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || dayAt(at) !== text) throw invalid(field, 'must be a day such as 2026-11-21');
  return at;
}

function everyDay({ from, to }: Days): string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  return Array.from({ length: (last - first) / DAY_MS + 1 }, (_, n) => dayAt(first + n * DAY_MS));
}

function dayAt(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

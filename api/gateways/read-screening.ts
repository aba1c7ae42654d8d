import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { readScreeningBurn } from '#api/store/screenings.ts';
import { POLICY } from '#shared/core/policy.ts';

type Screening = components['schemas']['GatewayScreening'];

/** What a gateway has left to screen with, what it spent on each of the last days, and how long the rest lasts at that rate (console 5). Locks nothing. */
export async function readScreening(deps: Pick<Deps, 'db'>, { gateway }: { gateway: Gateway }): Promise<Screening> {
  const { credits, days } = await readScreeningBurn(deps.db.sql, { gatewayId: gateway.id, days: POLICY.screeningDaysTold });
  const { enabled, threshold } = gateway.settings.screening;
  return { isEnabled: enabled, threshold, credits, ...burnOf(credits, days), days };
}

/** How many checks a day these days had, to two decimals, and how many whole days the credits last at that; null where nothing was spent. Pure. */
export function burnOf(credits: number, days: readonly { checks: number }[]): { checksPerDay: string; daysLeft: number | null } {
  const checks = days.reduce((sum, day) => sum + day.checks, 0);
  if (checks === 0) return { checksPerDay: '0', daysLeft: null };
  return { checksPerDay: String(Math.round((checks * 100) / days.length) / 100), daysLeft: Math.floor((credits * days.length) / checks) };
}

import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Deps } from '#api/deps.ts';
import { type Report, reportOnScrape } from '#api/jobs/report-on-scrape.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';

function scraped(reports: Record<string, Report>) {
  const metrics = createApiMetrics('test');
  reportOnScrape({ metrics, log: pino({ level: 'silent' }) } as unknown as Deps, reports);
  return metrics;
}

describe('figures that are read when somebody asks for the metrics', () => {
  it('are in that very answer, and are read again only once they are old, however many ask', async () => {
    const runs = { young: 0, old: 0 };
    const metrics = scraped({
      young: { seconds: 3_600, run: async () => metrics.paymentsOverdue.set(++runs.young) },
      old: { seconds: 0, run: async () => ++runs.old },
    });
    expect(runs).toEqual({ young: 0, old: 0 });
    const [{ body }] = await Promise.all([metrics.scrape(), metrics.scrape()]);
    expect(body).toMatch(/^sluice_payments_overdue 1$/m);
    expect(runs).toEqual({ young: 1, old: 1 });
    await metrics.scrape();
    expect(runs).toEqual({ young: 1, old: 2 });
  });

  it('that cannot be read keep nobody from the others', async () => {
    const metrics = scraped({
      broken: { seconds: 0, run: () => Promise.reject(new Error('the line is down')) },
      whole: { seconds: 0, run: async () => metrics.paymentsOverdue.set(7) },
    });
    expect((await metrics.scrape()).body).toMatch(/^sluice_payments_overdue 7$/m);
  });

  it('that never come do not keep the others from being read again', async () => {
    let read = 0;
    const metrics = scraped({
      endless: { seconds: 0, run: () => new Promise(() => undefined) },
      whole: { seconds: 0, run: async () => ++read },
    });
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    for (let time = 1; time <= 3; time++) {
      const scrape = metrics.scrape();
      await vi.advanceTimersByTimeAsync(10_000);
      await scrape;
      expect(read).toBe(time);
    }
  });
});

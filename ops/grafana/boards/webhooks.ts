import { type Board, quantile } from '../board.ts';

export const webhooks: Board = {
  name: 'webhooks',
  title: 'Sluice 6 · Webhooks',
  description: 'Whether merchants hear of results, how soon, and what their servers answer.',
  panels: [
    {
      title: 'Attempts by answer',
      description: "2xx is delivered. blocked: the address is private. The rest is the merchant's server or its network.",
      runbook: 'webhooks',
      width: 12,
      queries: { '{{result}}': 'sum by (result) (increase(sluice_webhook_attempts_total[5m]))' },
    },
    {
      title: 'Attempts by number',
      description: 'Many above 1: a merchant of weight is away.',
      runbook: 'webhooks',
      width: 12,
      queries: { 'attempt {{attempt}}': 'sum by (attempt) (increase(sluice_webhook_attempts_total[5m]))' },
    },
    {
      title: 'Result to first attempt',
      description: 'Lateness of our own making; 15 s is the promise for 99.5 %.',
      runbook: 'webhooks',
      unit: 's',
      queries: {
        p50: quantile(0.5, 'sluice_webhook_first_attempt_delay_seconds'),
        p95: quantile(0.95, 'sluice_webhook_first_attempt_delay_seconds'),
        p99: quantile(0.99, 'sluice_webhook_first_attempt_delay_seconds'),
      },
    },
    {
      title: 'Late first attempts',
      description: 'Share of first attempts later than 15 s, over an hour.',
      runbook: 'webhooks',
      unit: 'percentunit',
      queries: { late: 'sluice:webhook_first_attempt_late_ratio:rate1h' },
    },
    {
      title: 'Result to delivery',
      description: 'With all attempts that failed in between.',
      runbook: 'webhooks',
      unit: 's',
      queries: {
        p50: quantile(0.5, 'sluice_webhook_delivered_after_seconds'),
        p95: quantile(0.95, 'sluice_webhook_delivered_after_seconds'),
      },
    },
    {
      title: 'Given up',
      description: 'Webhooks in an hour of which the last attempt failed. The merchant does not know of a result.',
      runbook: 'webhooks',
      queries: { 'given up': 'sum(increase(sluice_webhook_exhausted_total[1h]))' },
    },
    {
      title: 'Waiting',
      description: 'Webhooks by state: scheduled ones wait for their next attempt.',
      runbook: 'webhooks',
      queries: { '{{state}}': 'max by (state) (sluice_jobs{queue="webhook.deliver"})' },
    },
    {
      title: 'Oldest due webhook',
      description: 'How long it has waited for a worker.',
      runbook: 'jobs',
      unit: 's',
      queries: { age: 'max(sluice_job_oldest_due_age_seconds{queue="webhook.deliver"}) or vector(0)' },
    },
  ],
};

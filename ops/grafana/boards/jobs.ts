import { type Board, quantile } from '../board.ts';

export const jobs: Board = {
  name: 'jobs',
  title: 'Sluice 7 · Jobs',
  description: 'Work that waits in the outbox: webhooks, screening, payouts, mail.',
  panels: [
    {
      title: 'Due',
      description: 'Jobs that should run now, by queue.',
      runbook: 'jobs',
      queries: { '{{queue}}': 'max by (queue) (sluice_jobs{state="due"})' },
    },
    {
      title: 'Oldest due job',
      description: 'How long it has waited. More than five minutes wakes somebody.',
      runbook: 'jobs',
      unit: 's',
      queries: { '{{queue}}': 'max by (queue) (sluice_job_oldest_due_age_seconds) or vector(0)' },
    },
    {
      title: 'Dead',
      description: 'Jobs that failed too often and are not tried again.',
      runbook: 'jobs',
      queries: { '{{queue}}': 'max by (queue) (sluice_jobs{state="dead"})' },
    },
    {
      title: 'Running and scheduled',
      description: 'Claimed by a worker, and those that wait for their time.',
      runbook: 'jobs',
      queries: { '{{queue}} {{state}}': 'max by (queue, state) (sluice_jobs{state=~"running|scheduled"})' },
    },
    {
      title: 'Finished runs',
      description: 'done, again (to be run once more), failed (retried), dead.',
      runbook: 'jobs',
      unit: 'ops',
      queries: { '{{queue}} {{result}}': 'sum by (queue, result) (rate(sluice_jobs_processed_total[$__rate_interval]))' },
    },
    {
      title: 'Run time, p95',
      description: 'By queue. A webhook waits for the merchant as long as it may.',
      runbook: 'jobs',
      unit: 's',
      queries: { '{{queue}}': quantile(0.95, 'sluice_job_duration_seconds', { by: 'queue' }) },
    },
  ],
};

import { type Board, quantile } from '../board.ts';

const OURS = 'job=~"sluice-.*"';

export const runtime: Board = {
  name: 'runtime',
  title: 'Sluice 8 · Runtime',
  description: 'The processes themselves: event loop, memory, and the database as they see it.',
  panels: [
    {
      title: 'Event loop lag, p99',
      description: 'How long work waits for its turn. Above 0.5 s for ten minutes opens a ticket.',
      runbook: 'runtime',
      unit: 's',
      queries: { '{{job}} {{instance}}': `max by (job, instance) (nodejs_eventloop_lag_p99_seconds{${OURS}})` },
    },
    {
      title: 'CPU',
      description: 'Cores in use; a process uses little more than one.',
      runbook: 'runtime',
      queries: { '{{job}} {{instance}}': `sum by (job, instance) (rate(process_cpu_seconds_total{${OURS}}[$__rate_interval]))` },
    },
    {
      title: 'Time in garbage collection',
      description: 'Share of time; above a tenth, memory is short.',
      runbook: 'runtime',
      unit: 'percentunit',
      queries: { '{{job}} {{instance}}': `sum by (job, instance) (rate(nodejs_gc_duration_seconds_sum{${OURS}}[$__rate_interval]))` },
    },
    {
      title: 'Heap in use',
      description: 'What only ever grows is a leak.',
      runbook: 'runtime',
      unit: 'bytes',
      queries: { '{{job}} {{instance}}': `max by (job, instance) (nodejs_heap_size_used_bytes{${OURS}})` },
    },
    {
      title: 'Memory',
      description: 'Resident memory of a process.',
      runbook: 'runtime',
      unit: 'bytes',
      queries: { '{{job}} {{instance}}': `max by (job, instance) (process_resident_memory_bytes{${OURS}})` },
    },
    {
      title: 'Open files',
      description: 'Sockets included; what only ever grows is a leak.',
      runbook: 'runtime',
      queries: { '{{job}} {{instance}}': `max by (job, instance) (process_open_fds{${OURS}})` },
    },
    {
      title: 'Database connections',
      description: 'Busy and idle ones of all processes, and callers that wait for one.',
      runbook: 'runtime',
      queries: { '{{job}} {{state}}': 'sum by (job, state) (sluice_db_pool_connections)' },
    },
    {
      title: 'Time of statements, p95',
      description: 'By what they do, the wait for a connection included; transactions as a whole.',
      runbook: 'runtime',
      unit: 's',
      queries: { '{{op}}': quantile(0.95, 'sluice_db_query_duration_seconds', { by: 'op' }) },
    },
    {
      title: 'Statements',
      description: 'How many, by what they do.',
      runbook: 'runtime',
      unit: 'ops',
      queries: { '{{op}}': 'sum by (op) (rate(sluice_db_query_duration_seconds_count[$__rate_interval]))' },
    },
  ],
};

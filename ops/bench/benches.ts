import { bitcoin, evm, tron } from './alone.ts';
import { backfill } from './backfill.ts';
import type { Bench } from './bench.ts';
import { bounds } from './bounds.ts';
import { claims } from './claims.ts';
import { consolePages } from './console-pages.ts';
import { growth } from './growth.ts';
import { head } from './head.ts';
import { http } from './http.ts';
import { journal } from './journal.ts';
import { logs } from './logs.ts';
import { memory } from './memory.ts';
import { page } from './page.ts';
import { sightings } from './sightings.ts';
import { webhooks } from './webhooks.ts';

/** Every bench, in the order they run. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  backfill,
  evm,
  tron,
  bitcoin,
  bounds,
  logs,
  head,
  memory,
  http,
  claims,
  sightings,
  webhooks,
  console: consolePages,
  page,
  journal,
  growth,
};

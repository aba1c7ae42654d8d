import type { Board, Panel } from './board.ts';
import { api } from './boards/api.ts';
import { indexer } from './boards/indexer.ts';
import { jobs } from './boards/jobs.ts';
import { overview } from './boards/overview.ts';
import { payments } from './boards/payments.ts';
import { runtime } from './boards/runtime.ts';
import { treasury } from './boards/treasury.ts';
import { webhooks } from './boards/webhooks.ts';

/** Every dashboard, in the order of their numbers. */
export const BOARDS: readonly Board[] = [overview, api, payments, indexer, treasury, webhooks, jobs, runtime];

/** As ops/grafana/provisioning calls the Prometheus it sets up. */
const SOURCE = { type: 'prometheus', uid: 'sluice-prometheus' };
const COLUMNS = 24;
const HEIGHT = 8;

/** Each dashboard's file below the repository's root, and what is in it. `docs` is where its links to runbooks lead: the public URL of an api. */
export function dashboardFiles(docs = 'http://localhost:3000'): { path: string; content: string }[] {
  return BOARDS.map((board) => ({
    path: `ops/grafana/dashboards/${board.name}.json`,
    content: `${JSON.stringify(dashboard(board, docs), null, 2)}\n`,
  }));
}

function dashboard(board: Board, docs: string): Record<string, unknown> {
  return {
    uid: `sluice-${board.name}`,
    title: board.title,
    description: board.description,
    tags: ['sluice'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: '',
    links: [{ type: 'dashboards', tags: ['sluice'], title: 'Sluice', asDropdown: true, includeVars: true, keepTime: true }],
    templating: {
      list: [
        {
          name: 'chain',
          label: 'Chain',
          type: 'query',
          datasource: SOURCE,
          definition: 'label_values(sluice_chain_stall_threshold_seconds, chain)',
          query: { query: 'label_values(sluice_chain_stall_threshold_seconds, chain)', refId: 'chain' },
          refresh: 2,
          sort: 1,
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { selected: true, text: ['All'], value: ['$__all'] },
        },
        { name: 'docs', type: 'constant', query: docs, hide: 2, current: { selected: true, text: docs, value: docs } },
      ],
    },
    panels: placed(board.panels),
  };
}

/** Panels one after another in rows of 24 columns. */
function placed(panels: readonly Panel[]): Record<string, unknown>[] {
  let [x, y] = [0, 0];
  return panels.map((one, index) => {
    const w = one.width ?? 8;
    if (x + w > COLUMNS) [x, y] = [0, y + HEIGHT];
    const gridPos = { x, y, w, h: HEIGHT };
    x += w;
    return { id: index + 1, gridPos, ...panel(one) };
  });
}

const TYPES = { graph: 'timeseries', now: 'stat', lights: 'stat', table: 'table' } as const;

function panel(one: Panel): Record<string, unknown> {
  const shows = one.shows ?? 'graph';
  const instant = shows !== 'graph';
  return {
    type: TYPES[shows],
    title: one.title,
    description: `${one.description} Runbook: ${one.runbook}.`,
    datasource: SOURCE,
    links: [{ title: `Runbook: ${one.runbook}`, url: `\${docs}/docs/runbooks/${one.runbook}`, targetBlank: true }],
    targets: Object.entries(one.queries).map(([legend, expr], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: SOURCE,
      expr,
      legendFormat: legend,
      ...(instant ? { instant: true, range: false } : {}),
      ...(shows === 'table' ? { format: 'table' } : {}),
    })),
    fieldConfig: { defaults: { unit: one.unit ?? 'short', ...(shows === 'lights' ? LIGHTS : {}), ...(shows === 'graph' ? GRAPH : {}) }, overrides: [] },
    options: shows === 'graph' ? { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } } : {},
    ...(shows === 'table' ? { transformations: [{ id: 'organize', options: { excludeByName: { Time: true } } }] } : {}),
  };
}

const GRAPH = { custom: { drawStyle: 'line', lineWidth: 1, fillOpacity: 8, showPoints: 'never', spanNulls: false } };
const LIGHTS = {
  color: { mode: 'thresholds' },
  mappings: [{ type: 'value', options: { 0: { text: 'stands still' }, 1: { text: 'endpoint in trouble' }, 2: { text: 'well' } } }],
  thresholds: {
    mode: 'absolute',
    steps: [
      { color: 'red', value: null },
      { color: 'yellow', value: 1 },
      { color: 'green', value: 2 },
    ],
  },
};

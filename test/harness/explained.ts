import type { Reads } from '#shared/platform/postgres.ts';
import type { FreshDatabase } from './database.ts';

/** One node of a plan that was run, with what it read. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Gives product code a connection that also explains whatever it asks, and answers every node of every plan. For a transaction that has `enable_seqscan` off. */
function explaining(sql: Reads): { sql: Reads; nodes: PlanNode[] } {
  const nodes: PlanNode[] = [];
  const add = (node: PlanNode): void => {
    nodes.push(node);
    node.Plans?.forEach(add);
  };
  const explained = new Proxy(sql, {
    apply(target, self, given: Parameters<Reads>) {
      const ask = () => Reflect.apply(target, self, given) as ReturnType<Reads>;
      const query = ask();
      const then = query.then.bind(query);
      // Fragments of a statement are made by the same function, and nobody waits for those.
      Reflect.set(query, 'then', (...[done, failed]: Parameters<typeof then>) =>
        target<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>`explain (analyze, costs off, timing off, format json) ${ask()}`
          .then(([row]) => {
            add((row as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan);
          })
          .then(() => then(done, failed), failed),
      );
      return query;
    },
  });
  return { sql: explained, nodes };
}

/** Rows that the nodes of plans gave or passed over: what the work was. */
export function rowsRead(nodes: readonly PlanNode[]): number {
  return nodes.reduce((sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'], 0);
}

/** What was read by a question of the http role, where every table that has an index for it must be asked by it. */
export async function plansOfHttp(database: FreshDatabase, ask: (sql: Reads) => Promise<unknown>): Promise<PlanNode[]> {
  return database.as('http').transaction(async (tx) => {
    await tx`set local enable_seqscan = off`;
    const { sql, nodes } = explaining(tx);
    await ask(sql);
    return nodes;
  });
}

/** What a page of the fault matrix says of one row. */
export interface TableRow {
  row: string;
  name: string;
  /** The file that plays it. */
  file: string;
}

/** Rows that are whole test files: no chance varies them. */
export const WHOLE_FILES: Readonly<Record<string, { name: string; files: readonly string[] }>> = {
  F48: {
    name: 'two releases run on one schema, and a migration that is aborted half-way is begun anew',
    files: ['test/journeys/upgrade.test.ts', 'test/integration/migrate.test.ts'],
  },
};

/** The page ops/runbooks/faults.md, from the rows themselves. */
export function faultsPage(rows: readonly TableRow[]): string {
  const whole = Object.entries(WHOLE_FILES).map(([row, { name, files }]) => ({ row, name, file: files.join(', ') }));
  const numbered = [...rows, ...whole].sort((a, b) => Number(a.row.slice(1)) - Number(b.row.slice(1)));
  return `# Faults that are played

Each of these faults is brought about again and again by \`npm run faults\`, with chance from 20 seeds, and each time everything has to come right by
itself. This page is written from the rows.

## How to play them

\`\`\`sh
npm run faults > faults.json
\`\`\`

The result is one JSON object: the score, and for each row how often it was tried and survived, with the seeds that failed and why. The exit code is 0
only when all were survived. A seed plays the same again; fewer seeds, or one row:

\`\`\`sh
npm run faults -- --seeds 3
npm run faults -- --row F28 --seeds 7
\`\`\`

## What counts as survived

- The audit finds nothing, and nothing is frozen, unless the row is about a freeze.
- What was paid is credited once, and what was cashed out arrived once, to the unit, by what the chain says.
- Nobody had to do anything, except where the row says that an operator decides.

Faults of a network are made by a proxy in front of Postgres, Redis, the nodes or a receiver (\`test/harness/fault-proxy.ts\`), with the toxics of Toxiproxy:
latency, down, timeout, reset_peer, slicer, limit_data and bandwidth.

## The matrix

| fault | what happens, and what is proved | played by |
|---|---|---|
${numbered.map(({ row, name, file }) => `| ${row} | ${name.replaceAll('|', '\\|')} | \`${file}\` |`).join('\n')}
`;
}

#!/usr/bin/env node
// Starts the command line from dist/cli.js, building it first when it is missing or older than its sources.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const built = join(root, 'dist/cli.js');
const builder = join(root, 'ops/dev/build.mjs');

/** Time of the newest source below `folder`, in milliseconds. */
function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) latest = Math.max(latest, newest(path));
    else if (/\.(ts|json)$/.test(entry.name)) latest = Math.max(latest, statSync(path).mtimeMs);
  }
  return latest;
}

if (existsSync(builder) && (!existsSync(built) || ['ops', 'shared', 'state-machines'].some((folder) => newest(join(root, folder)) > statSync(built).mtimeMs))) {
  const { build } = await import(builder);
  await build();
}
await import(built);

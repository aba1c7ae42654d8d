#!/usr/bin/env node
// Starts the command line from dist/cli.js, building it first when it is missing or was built from other sources.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stamp = join(root, 'ops/dev/build-stamp.mjs');

// An image has what was built and no sources.
if (existsSync(stamp)) {
  const { inputsOf, isBuilt } = await import(stamp);
  if (!isBuilt(inputsOf())) await (await import(join(root, 'ops/dev/build.mjs'))).build();
}
await import(join(root, 'dist/cli.js'));

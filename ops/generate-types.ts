// Writes the TypeScript types of the contract files: npm run generate.
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

/** Each contract file with the types generated from it. */
export const GENERATED = [
  { contract: 'api/contract/openapi.yaml', types: 'api/contract/types.ts' },
  { contract: 'api/contract/operator.yaml', types: 'api/contract/operator-types.ts' },
  { contract: 'api/contract/checkout.yaml', types: 'api/contract/checkout-types.ts' },
];

/** The types of one contract file, as text. */
export async function generateTypes(contract: string): Promise<string> {
  return `// Generated from ${contract} by npm run generate; do not edit.\n${astToString(await openapiTS(pathToFileURL(contract)))}`;
}

async function main(): Promise<void> {
  for (const { contract, types } of GENERATED) {
    const text = await generateTypes(contract);
    const changed = text !== (await readFile(types, 'utf8').catch(() => ''));
    if (changed) await writeFile(types, text);
    process.stdout.write(`${types}: ${changed ? 'written' : 'up to date'}\n`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();

// Writes what is made from the contract files: their TypeScript types, and the merchant client's list of operations. npm run generate.
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';
import { type ContractFile, operationsOf } from './client/operations-of.ts';

/** Each contract file with the types generated from it. */
export const GENERATED = [
  { contract: 'api/contract/openapi.yaml', types: 'api/contract/types.ts' },
  { contract: 'api/contract/operator.yaml', types: 'api/contract/operator-types.ts' },
  { contract: 'api/contract/checkout.yaml', types: 'api/contract/checkout-types.ts' },
];

/** The merchant client's list of operations, and the contract it is made from. */
export const CLIENT_OPERATIONS = { contract: 'api/contract/openapi.yaml', file: 'ops/client/operations.ts' };

/** That list, as text. */
export async function generateOperations(): Promise<string> {
  return operationsOf(parse(await readFile(CLIENT_OPERATIONS.contract, 'utf8')) as ContractFile, CLIENT_OPERATIONS.contract);
}

/** The types of one contract file, as text. */
export async function generateTypes(contract: string): Promise<string> {
  return `// Generated from ${contract} by npm run generate; do not edit.\n${astToString(await openapiTS(pathToFileURL(contract)))}`;
}

async function main(): Promise<void> {
  for (const { contract, types } of GENERATED) await renew(types, await generateTypes(contract));
  await renew(CLIENT_OPERATIONS.file, await generateOperations());
}

async function renew(file: string, text: string): Promise<void> {
  const changed = text !== (await readFile(file, 'utf8').catch(() => ''));
  if (changed) await writeFile(file, text);
  process.stdout.write(`${file}: ${changed ? 'written' : 'up to date'}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();

// Says which installed packages come under terms that were never agreed to. npm run check:licences
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import satisfies from 'spdx-satisfies';

/** Terms anybody may ship under: keep the notice, promise nothing. */
const APPROVED = ['MIT', 'MIT-0', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'CC0-1.0'];

/** What comes under other terms and is shipped all the same, each with its terms and why they are good. */
export const EXCEPTIONS: Readonly<Record<string, { licence: string; reason: string }>> = {
  argparse: {
    licence: 'PSF-2.0',
    reason: 'a port of Python’s own module under Python’s permissive terms; it reads command lines of the YAML parser and is never started',
  },
  postgres: { licence: 'Unlicense', reason: 'given to the public domain, with a licence to everybody where that is impossible' },
};

interface LockedPackage {
  license?: string;
  dev?: boolean;
  link?: boolean;
}

/** A package-lock.json, as far as licences go. */
export interface Lock {
  packages: Readonly<Record<string, LockedPackage>>;
}

/** What is wrong with the licences of everything that is installed without development packages; empty when nothing is. Pure. */
export function licenceProblems(lock: Lock, exceptions = EXCEPTIONS): string[] {
  const problems: string[] = [];
  const excepted = new Set<string>();
  for (const [path, { license, dev, link }] of Object.entries(lock.packages)) {
    if (path === '' || dev === true || link === true) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (license === undefined) problems.push(`${name}: its licence is not told`);
    else if (exceptions[name]?.licence === license) excepted.add(name);
    else if (!isApproved(license)) problems.push(`${name}: ${license} is not among the terms that were agreed to`);
  }
  for (const name of Object.keys(exceptions)) if (!excepted.has(name)) problems.push(`${name}: is excepted, but not installed under those terms`);
  return problems;
}

function isApproved(license: string): boolean {
  try {
    return satisfies(license, APPROVED);
  } catch {
    // No expression at all, such as "SEE LICENSE IN …".
    return false;
  }
}

async function main(): Promise<void> {
  const problems = licenceProblems(JSON.parse(await readFile('package-lock.json', 'utf8')) as Lock);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();

import { writeFileSync } from 'node:fs';
import { compileContracts } from './compile.ts';

writeFileSync(new URL('tokens.json', import.meta.url), `${JSON.stringify(compileContracts(), null, 2)}\n`);

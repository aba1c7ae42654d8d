import { writeFileSync } from 'node:fs';
import { compileKernel } from './compile.ts';

writeFileSync(new URL('../../../shared/chains/kernel/kernel.json', import.meta.url), `${JSON.stringify(await compileKernel(), null, 2)}\n`);

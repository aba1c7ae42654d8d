import { writeFileSync } from 'node:fs';
import { diagrams } from './diagrams.ts';

for (const { path, content } of diagrams()) {
  writeFileSync(new URL(`../${path}`, import.meta.url), content);
  process.stdout.write(`${path}\n`);
}

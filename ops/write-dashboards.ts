// npm run dashboards [-- https://pay.example.com]: writes the dashboards, with links to the docs of the api at that address.
import { writeFileSync } from 'node:fs';
import { dashboardFiles } from './grafana/dashboards.ts';

for (const { path, content } of dashboardFiles(process.argv[2])) {
  writeFileSync(new URL(`../${path}`, import.meta.url), content);
  process.stdout.write(`${path}\n`);
}

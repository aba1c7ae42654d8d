import type { Page, Pages } from './pages.ts';
import { addressOf } from './render.ts';
import { addressOfPage } from './navigation.ts';

/** `/llms.txt`: every page's Markdown by its title, with what is on it, as llmstxt.org describes it. Pure. */
export function llmsIndex({ index, sections }: Pages): string {
  const groups = sections.map(
    ({ title, pages }) => `## ${title}\n\n${pages.map((page) => `- [${page.title}](${addressOfPage(page)}.md): ${linked(page.summary, page)}`).join('\n')}`,
  );
  const reference =
    '## Reference\n\n- [openapi.json](/openapi.json): The contract, every operation and field of it.\n- [llms-full.txt](/llms-full.txt): All pages in one file.';
  return `${[`# Sluice`, `> ${index.summary}`, ...groups, reference].join('\n\n')}\n`;
}

/** `/llms-full.txt`: every listed page in the order of the index, in one file. Pure. */
export function llmsFull({ sections }: Pages): string {
  const pages = sections.flatMap((section) => section.pages);
  return pages.map((page) => `${page.markdown.trim()}\n`).join('\n\n');
}

/** Links of a summary, from where it stands now. */
function linked(markdown: string, page: Page): string {
  return markdown.replaceAll(/\]\(([^)]+)\)/g, (_all, href: string) => `](${addressOf(href, page.slug)})`);
}

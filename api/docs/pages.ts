import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One page of the documentation, as its author wrote it. */
export interface Page {
  /** Its address below /docs: `webhooks`, `runbooks/chain-stalled`; empty for the index. */
  slug: string;
  /** The text of its first line. */
  title: string;
  /** Its first paragraph on one line, as Markdown. */
  summary: string;
  markdown: string;
}

/** A heading of the index with the pages listed below it. */
export interface Section {
  /** Whom it is for: the larger heading it stands below, or its own. */
  audience: string;
  title: string;
  pages: readonly Page[];
}

export interface Pages {
  index: Page;
  /** The order of the index. */
  sections: readonly Section[];
  /** Every page by its slug: the index, those it lists, and the runbooks, which it does not. */
  bySlug: ReadonlyMap<string, Page>;
}

/** Where pages and runbooks are, and what the build made for browsers to load beside them. */
export interface DocsFolders {
  pages: string;
  runbooks: string;
  assets: string;
}

const LISTED = /^- \[[^\]]+\]\(([a-z0-9-]+)\.md\)/;

/**
 * Reads every page. Order and sections are the links of index.md; one that leads to no page is left out, because a slip in the
 * documentation must not keep the service from starting (a test finds it).
 * @throws Error when there is no index.md
 */
export function readPages(folders: Pick<DocsFolders, 'pages' | 'runbooks'>): Pages {
  const pages = [...readFolder(folders.pages, ''), ...readFolder(folders.runbooks, 'runbooks/')];
  const bySlug = new Map(pages.map((page) => [page.slug, page]));
  const index = bySlug.get('');
  if (index === undefined) throw new Error(`${folders.pages} has no index.md`);
  return { index, sections: sectionsOf(index, bySlug), bySlug };
}

function readFolder(folder: string, prefix: string): Page[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => {
      const slug = `${prefix}${name.slice(0, -'.md'.length)}`;
      return readPage(slug === 'index' ? '' : slug, readFileSync(join(folder, name), 'utf8'));
    });
}

/** Reads one page's title and summary. Pure. */
export function readPage(slug: string, markdown: string): Page {
  const [first = '', ...rest] = markdown.split('\n');
  const title = /^# (.+)$/.exec(first)?.[1] ?? slug;
  const summary = rest.join('\n').trim().split('\n\n')[0] ?? '';
  return { slug, title, summary: summary.replaceAll('\n', ' '), markdown };
}

function sectionsOf(index: Page, bySlug: ReadonlyMap<string, Page>): Section[] {
  const sections: { audience: string; title: string; pages: Page[] }[] = [];
  let audience = '';
  for (const line of index.markdown.split('\n')) {
    const [, depth = '', title = ''] = /^(##|###) (.+)$/.exec(line) ?? [];
    if (depth === '##') audience = title;
    if (depth !== '') sections.push({ audience, title, pages: [] });
    const page = bySlug.get(LISTED.exec(line)?.[1] ?? '');
    if (page !== undefined && page !== index) sections.at(-1)?.pages.push(page);
  }
  return sections.filter((section) => section.pages.length > 0);
}

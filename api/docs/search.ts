import { ALSO_CALLED } from './also-called.ts';
import { escapeHtml, textOfHtml } from './escape.ts';
import { addressOfPage } from './navigation.ts';
import { type Entry, type FindingIndex, type Hit, indexOf } from './page/finding.ts';
import type { Page, Pages } from './pages.ts';
import { plainText, renderPage } from './render.ts';

/** Something to be found, before it has a number. */
export type Findable = Omit<Entry, 'id'>;

/** The index of everything: pages, their sections, codes and statuses in their tables, settings, and `more`, the operations. */
export function searchIndex(pages: Pages, more: readonly Findable[]): FindingIndex {
  const found: Findable[] = [...more];
  const settings = new Set<string>();
  const listed = pages.sections.flatMap((section) => section.pages);
  const runbooks = [...pages.bySlug.values()].filter((page) => !listed.includes(page) && page !== pages.index);
  for (const page of [...listed, ...runbooks]) found.push(...entriesOf(page, settings));
  return indexOf(found.map((entry, id) => ({ ...entry, id })));
}

function entriesOf(page: Page, settings: Set<string>): Findable[] {
  const href = addressOfPage(page);
  const title = plainText(page.title);
  const runbook = page.slug.startsWith('runbooks/');
  const { html, headings, names } = renderPage(page);
  const weight = runbook ? 0.5 : 1;
  return [
    {
      title,
      where: runbook ? 'Runbook' : 'Page',
      also: `${page.slug} ${ALSO_CALLED[page.slug] ?? ''}`,
      words: plainText(page.summary),
      href,
      weight: weight * 2,
    },
    ...headings
      .filter(({ depth }) => depth > 1)
      .map(({ id, text }) => ({ title: textOfHtml(text), where: title, also: '', words: '', href: `${href}#${id}`, weight })),
    ...names.map(({ id, name, text }) => ({ title: name, where: title, also: '', words: text, href: `${href}#${id}`, weight: weight * 0.9 })),
    ...settingsOf(html, settings).map(({ name, id }) => ({
      title: name,
      where: `Setting · ${title}`,
      also: '',
      words: '',
      href: id === '' ? href : `${href}#${id}`,
      weight: 0.6,
    })),
  ];
}

/** Settings that a page is the first to tell of, each with the section it stands in. Adds them to those that were told. */
function settingsOf(html: string, told: Set<string>): { name: string; id: string }[] {
  const found: { name: string; id: string }[] = [];
  let id = '';
  for (const [, section, name] of html.matchAll(/<h[2-6] id="([^"]+)"|\b(SLUICE_[A-Z_]+[A-Z])\b/g)) {
    id = section ?? id;
    if (name === undefined || told.has(name)) continue;
    told.add(name);
    found.push({ name, id });
  }
  return found;
}

/** The page of results for readers without scripts. Pure. */
export function resultsPage(hits: readonly Hit[], question: string): string {
  const shown = (hit: Hit): string =>
    `<li><a href="${escapeHtml(hit.href)}">${escapeHtml(hit.title)}</a><br><span class="hint">${escapeHtml(hit.where)}</span></li>`;
  const list =
    hits.length === 0
      ? '<p>Nothing is called that. Try one word of it, or <a href="/docs">look through all pages</a>.</p>'
      : `<ul class="found">${hits.map(shown).join('')}</ul>`;
  return `<h1>${question === '' ? 'Search' : `Found for “${escapeHtml(question)}”`}</h1>\n${question === '' ? '<p>Type what you look for into the box above.</p>' : list}`;
}

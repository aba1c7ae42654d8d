import { escapeHtml } from './escape.ts';
import type { Page, Pages, Section } from './pages.ts';

/** Where a page is served; its Markdown is at the same address with `.md`. Pure. */
export function addressOfPage(page: Pick<Page, 'slug'>): string {
  return page.slug === '' ? '/docs/index' : `/docs/${page.slug}`;
}

const REFERENCES: Readonly<Record<string, string>> = {
  'For merchants': '<li><a href="/docs/api">API reference</a></li><li><a href="/docs/checkout-api">Checkout channel</a></li>',
  'For operators': '<li><a href="/docs/operator-api">Operator API</a></li>',
};

/** Every page, by whom it is for. Pure. */
export function pagesNavigation({ index, sections, bySlug }: Pages, current: string | undefined): string {
  const link = (page: Page, href = addressOfPage(page)): string =>
    `<li><a href="${href}"${page.slug === current ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a></li>`;
  const list = ({ audience, title, pages }: Section): string =>
    `${title === audience ? '' : `<p class="section">${escapeHtml(title)}</p>`}<ul>${pages.map((page) => link(page)).join('')}</ul>`;
  const audiences = [...new Set(sections.map(({ audience }) => audience))];
  const runbooks = [...bySlug.values()].filter(({ slug }) => slug.startsWith('runbooks/'));
  const below: Readonly<Record<string, string>> = {
    'For operators': runbooks.length === 0 ? '' : folded('Runbooks', runbooks.map((page) => link(page)).join(''), current?.startsWith('runbooks/')),
  };
  const groups = audiences.map((audience) => {
    const reference = REFERENCES[audience];
    return [
      `<p>${escapeHtml(audience)}</p>`,
      reference === undefined ? '' : `<ul>${reference}</ul>`,
      ...sections.filter((section) => section.audience === audience).map(list),
      below[audience] ?? '',
    ].join('\n');
  });
  return [`<ul>${link(index, '/docs')}</ul>`, ...groups].join('\n');
}

/** The pages before and after this one, in the order of the index. Pure. */
export function neighbours({ sections }: Pages, page: Page): string {
  const order = sections.flatMap((section) => section.pages);
  const at = order.indexOf(page);
  if (at === -1) return '';
  return neighbourLinks(
    [order[at - 1], order[at + 1]].map((one) => one && { href: addressOfPage(one), title: one.title }) as [Neighbour | undefined, Neighbour | undefined],
  );
}

interface Neighbour {
  href: string;
  title: string;
}

/** Links to what comes before and after. Pure. */
export function neighbourLinks([before, after]: [Neighbour | undefined, Neighbour | undefined]): string {
  const link = (one: Neighbour | undefined, rel: 'prev' | 'next', label: string): string =>
    one === undefined ? '<span></span>' : `<a rel="${rel}" href="${one.href}"><span>${label}</span>${escapeHtml(one.title)}</a>`;
  return `<p class="neighbours">${link(before, 'prev', '← Before')}${link(after, 'next', 'Next →')}</p>`;
}

/** A list that is out of the way until it is wanted. Pure. */
export function folded(title: string, items: string, open = false): string {
  return `<details${open ? ' open' : ''}><summary>${escapeHtml(title)}</summary><ul>${items}</ul></details>`;
}

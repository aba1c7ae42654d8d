import type { Page, Pages } from './pages.ts';
import { escapeHtml, type Heading, plainText, type Rendered } from './render.ts';

/** The whole HTML document of a page: the list of all pages, the page, what is on it, and its neighbours. Pure. */
export function layOut(pages: Pages, page: Page, { html, headings }: Rendered): string {
  const title = page.slug === '' ? page.title : `${page.title} · Sluice`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(plainText(page.summary))}">
<title>${escapeHtml(plainText(title))}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/docs.css">
<link rel="alternate" type="text/markdown" href="${addressOfPage(page)}.md">
<script src="/docs/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the page</a>
<nav class="pages" aria-label="Documentation">
<details open>
<summary>Pages</summary>
${navigation(pages, page)}
</details>
</nav>
<main id="content">
${html}${neighbours(pages, page)}
<footer><a href="${addressOfPage(page)}.md">This page as Markdown</a> · <a href="/llms.txt">llms.txt</a> · <a href="/openapi.json">openapi.json</a></footer>
</main>
${contents(headings.filter(({ depth }) => depth === 2))}
</body>
</html>
`;
}

/** Where a page is served; its Markdown is at the same address with `.md`. Pure. */
export function addressOfPage(page: Page): string {
  return page.slug === '' ? '/docs/index' : `/docs/${page.slug}`;
}

function navigation({ index, sections }: Pages, current: Page): string {
  const link = (page: Page, href: string): string =>
    `<li><a href="${href}"${page.slug === current.slug ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a></li>`;
  const groups = sections
    .filter((section) => section.pages.length > 0)
    .map((section) => `<p>${escapeHtml(section.title)}</p>\n<ul>${section.pages.map((page) => link(page, addressOfPage(page))).join('')}</ul>`);
  return [`<ul>${link(index, '/docs')}<li><a href="/docs/api">API reference</a></li></ul>`, ...groups].join('\n');
}

function neighbours({ sections }: Pages, page: Page): string {
  const order = sections.flatMap((section) => section.pages);
  const at = order.indexOf(page);
  if (at === -1) return '';
  const [before, after] = [order[at - 1], order[at + 1]];
  const link = (one: Page | undefined, rel: 'prev' | 'next', shown: (title: string) => string): string =>
    one === undefined ? '<span></span>' : `<a rel="${rel}" href="${addressOfPage(one)}">${shown(escapeHtml(one.title))}</a>`;
  return `<p class="neighbours">${link(before, 'prev', (title) => `← ${title}`)}${link(after, 'next', (title) => `${title} →`)}</p>`;
}

/** The page's sections, once there are enough of them to get lost in. */
function contents(headings: readonly Heading[]): string {
  if (headings.length < 3) return '';
  const items = headings.map(({ id, text }) => `<li><a href="#${id}">${withoutLinks(text)}</a></li>`);
  return `<nav class="headings" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>`;
}

/** A link cannot hold another one. */
function withoutLinks(html: string): string {
  return html.replaceAll(/<\/?a\b[^>]*>/g, '');
}

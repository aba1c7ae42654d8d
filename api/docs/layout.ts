import { escapeHtml } from './escape.ts';
import { addressOfPage, neighbours, pagesNavigation } from './navigation.ts';
import type { Page, Pages } from './pages.ts';
import { type Heading, plainText, type Rendered } from './render.ts';

/** Addresses of what a page loads: style and script at once, the others when somebody searches or tries an operation. */
export interface DocsAssets {
  style: string;
  script: string;
  search: string;
  /** What sends operations; null where a deployment does not want that. */
  try: string | null;
}

/** One document of the documentation, whatever it is about. */
export interface Shown {
  title: string;
  /** One line, for whoever lists pages. */
  summary: string;
  navigation: string;
  html: string;
  /** What is on it; none where that stands beside the text already. */
  headings?: readonly Heading[];
  /** Which of the bar's links this is below. */
  part: 'guides' | 'api' | 'none';
  shape?: 'layout-reference' | 'layout-plain';
  /** Address of its Markdown. */
  twin?: string;
  /** What was searched for. */
  sought?: string;
}

/** The whole HTML document of a page: the list of all pages, the page, what is on it, and its neighbours. Pure. */
export function layOut(assets: DocsAssets, pages: Pages, page: Page, { html, headings }: Rendered): string {
  return frame(assets, {
    title: page.title,
    summary: page.summary,
    navigation: pagesNavigation(pages, page.slug),
    html: html + neighbours(pages, page),
    headings,
    part: 'guides',
    twin: `${addressOfPage(page)}.md`,
  });
}

/** What stands around every page: bar, search, navigation. Pure. */
export function frame(assets: DocsAssets, shown: Shown): string {
  const name = plainText(shown.title);
  const title = name.includes('Sluice') ? name : `${name} · Sluice`;
  const headings = (shown.headings ?? []).filter(({ depth }) => depth === 2);
  // With two of them nobody gets lost.
  const contents = headings.length < 3 ? '' : contentsOf(headings);
  const shape = shown.shape ?? (contents === '' ? 'layout-plain' : '');
  const twin = shown.twin === undefined ? '' : `<a href="${shown.twin}">This page as Markdown</a> · `;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(plainText(shown.summary))}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.style}">
${shown.twin === undefined ? '' : `<link rel="alternate" type="text/markdown" href="${shown.twin}">\n`}<script type="module" src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the page</a>
<header class="bar">
<a class="brand" href="/docs">Sluice <span>Documentation</span></a>
<search class="search" data-program="${assets.search}" data-index="/docs/search.json">
<form method="get" action="/docs/search" role="search">
<input type="search" name="q" value="${escapeHtml(shown.sought ?? '')}" maxlength="100" required autocomplete="off" aria-label="Search the documentation" placeholder="Search" aria-keyshortcuts="/">
</form>
<span class="search-key" aria-hidden="true">/</span>
</search>
<nav class="bar-links" aria-label="Parts"><a href="/docs"${shown.part === 'guides' ? ' aria-current="true"' : ''}>Guides</a><a href="/docs/api"${shown.part === 'api' ? ' aria-current="true"' : ''}>API reference</a></nav>
</header>
<div class="layout ${shape}">
<nav class="pages" id="pages" popover aria-label="Documentation">
${shown.navigation}
</nav>
<main id="content">
<p class="openers"><button type="button" class="button button-small opener-pages" popovertarget="pages">All pages</button>${contents === '' ? '' : '<button type="button" class="button button-small" popovertarget="headings">On this page</button>'}</p>
${shown.html}
<footer>${twin}<a href="/llms.txt">llms.txt</a> · <a href="/openapi.json">openapi.json</a></footer>
</main>
${contents}
</div>
</body>
</html>
`;
}

function contentsOf(headings: readonly Heading[]): string {
  const items = headings.map(({ id, text }) => `<li><a href="#${id}">${withoutLinks(text)}</a></li>`);
  return `<nav class="headings" id="headings" popover aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>`;
}

/** A link cannot hold another one. */
function withoutLinks(html: string): string {
  return html.replaceAll(/<\/?a\b[^>]*>/g, '');
}

import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { escapeHtml } from './escape.ts';
import type { Highlight } from './highlight.ts';
import type { Page } from './pages.ts';

/** A heading that a page can be entered at. */
export interface Heading {
  depth: number;
  /** What it is called in the address, after the `#`. */
  id: string;
  /** As HTML. */
  text: string;
}

/** A row of a table that is about one name. */
export interface Named {
  id: string;
  name: string;
  /** What the row says of it. */
  text: string;
}

export interface Rendered {
  html: string;
  headings: readonly Heading[];
  names: readonly Named[];
}

/** What a block of code is called where several languages stand side by side. */
const LANGUAGES: Readonly<Record<string, string>> = { js: 'Node.js', ts: 'TypeScript', python: 'Python', php: 'PHP', go: 'Go', sh: 'Shell', json: 'JSON' };

/** Makes HTML of a page. Links between pages lose their `.md`; raw HTML is shown as text; code has no colours unless told how. Pure. */
export function renderPage(page: Pick<Page, 'slug' | 'markdown'>, highlight: Highlight = escapeHtml): Rendered {
  const headings: Heading[] = [];
  const names: Named[] = [];
  const idOf = uniqueIds();
  const marked = new Marked({
    renderer: {
      heading(token: Tokens.Heading): string {
        const id = idOf(plainText(token.text));
        const text = this.parser.parseInline(token.tokens);
        headings.push({ depth: token.depth, id, text });
        return token.depth === 1
          ? `<h1>${text}</h1>\n`
          : `<h${token.depth} id="${id}">${text} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${token.depth}>\n`;
      },
      link(token: Tokens.Link): string {
        return `<a href="${escapeHtml(addressOf(token.href, page.slug))}">${this.parser.parseInline(token.tokens)}</a>`;
      },
      // Not asked for before it is scrolled to, and as wide as the text at most.
      image: ({ href, text }: Tokens.Image): string => `<img src="${escapeHtml(href)}" alt="${escapeHtml(text)}" loading="lazy">`,
      code: ({ text, lang }: Tokens.Code): string => codeBlock(text, lang?.split(' ')[0] ?? '', highlight),
      table(token: Tokens.Table): string {
        /** A row about one name, such as an error code, can be led to by it. */
        const anchor = ([first, ...rest]: readonly Tokens.TableCell[]): string => {
          const name = /^`([A-Za-z][A-Za-z0-9_]+)`$/.exec(first?.text ?? '')?.[1];
          if (name === undefined) return '';
          const id = idOf(name);
          names.push({ id, name, text: plainText(rest.map(({ text }) => text).join(' ')) });
          return ` id="${id}"`;
        };
        const row = (cells: readonly Tokens.TableCell[], tag: 'td' | 'th'): string =>
          `<tr${tag === 'td' ? anchor(cells) : ''}>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      // To be ticked on paper or in one's head: a control that cannot be used would only be in the way.
      checkbox: ({ checked }: Tokens.Checkbox): string => `<span class="box" aria-hidden="true">${checked ? '☑' : '☐'}</span> `,
      html: ({ text }: Tokens.HTML | Tokens.Tag): string => escapeHtml(text),
    },
  });
  const html = groupLanguages(marked.parse(page.markdown, { async: false }));
  return { html, headings, names };
}

/** Address of a link found on a page: of another page below /docs, or as it is. Pure. */
export function addressOf(href: string, slug: string): string {
  const [path = '', anchor] = href.split('#');
  if (path === '' || !path.endsWith('.md') || /^[a-z]+:/.test(path)) return href;
  // Runbooks lie beside the folder of the pages, and are served below it.
  const folder = posix.dirname(slug);
  const target = posix.join('/', folder, folder === '.' ? path.replace(/^\.\.\/runbooks\//, 'runbooks/') : path.replace(/^\.\.\/docs\//, '../'));
  const page = target.slice(0, -'.md'.length).replace(/\/index$/, '');
  return `/docs${page}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Markdown of one line without its marks. */
export function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}

/** Names headings as GitHub does: lower case, without punctuation, dashes for spaces, numbered when they repeat. */
function uniqueIds(): (text: string) => string {
  const used = new Map<string, number>();
  return (text) => {
    const id = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = used.get(id) ?? 0;
    used.set(id, times + 1);
    return times === 0 ? id : `${id}-${times}`;
  };
}

/** One block of code. Pure. */
export function codeBlock(text: string, language: string, highlight: Highlight): string {
  const label = LANGUAGES[language] ?? '';
  const named = label === '' ? '' : ` data-label="${label}"`;
  return `<figure class="code" data-language="${escapeHtml(language)}"${named}><pre tabindex="0"><code>${highlight(text, language)}\n</code></pre></figure>\n`;
}

const BLOCKS = /(?:<figure class="code"[^>]* data-label="[^"]+"><pre tabindex="0"><code>(?:(?!<\/code>)[\s\S])*<\/code><\/pre><\/figure>\n){2,}/g;

/** Blocks that follow each other in different languages belong together: a reader wants one of them. Pure. */
export function groupLanguages(html: string): string {
  let groups = 0;
  return html.replaceAll(BLOCKS, (run) => {
    const blocks = [...run.matchAll(/data-language="([^"]+)" data-label="([^"]+)"/g)].map(([, language = '', label = '']) => ({ language, label }));
    const languages = new Set(blocks.map(({ language }) => language));
    if (languages.size < blocks.length || languages.has('json')) return run;
    groups += 1;
    const choices = blocks.map(({ language, label }, at) => {
      const id = `language-${groups}-${language}`;
      return `<input type="radio" name="language-${groups}" id="${id}" value="${language}"${at === 0 ? ' checked' : ''}><label for="${id}">${label}</label>`;
    });
    return `<fieldset class="languages"><legend class="hidden-visually">Language</legend>${choices.join('')}\n${run}</fieldset>\n`;
  });
}

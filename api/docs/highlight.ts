import { escapeHtml } from './escape.ts';

/** Writes code as HTML whose colours are classes: the policy of the pages allows no style in an attribute. */
export type Highlight = (code: string, language: string) => string;

/** Languages of the pages by what a block is called after; any other is left without colours. */
const GRAMMARS: Readonly<Record<string, () => Promise<{ default: object[] }>>> = {
  js: () => import('shiki/langs/javascript.mjs'),
  ts: () => import('shiki/langs/typescript.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  sh: () => import('shiki/langs/shellscript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  nginx: () => import('shiki/langs/nginx.mjs'),
};

let opened: Promise<Highlight> | undefined;

/** What colours code, read when the first page is asked for: a process that shows no documentation never has it in memory. */
export function openHighlight(): Promise<Highlight> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Highlight> {
  const [{ createCssVariablesTheme, createHighlighterCore }, { createJavaScriptRegexEngine }] = await Promise.all([
    import('shiki/core'),
    import('shiki/engine/javascript'),
  ]);
  const names = Object.keys(GRAMMARS);
  const grammars = await Promise.all(Object.values(GRAMMARS).map(async (read) => (await read()).default as Grammar[]));
  // A file holds what its grammar embeds too, and its own last.
  const byName = new Map(names.map((name, at) => [name, grammars[at]?.at(-1)?.name ?? name]));
  const theme = createCssVariablesTheme({ name: 'classes' });
  const highlighter = await createHighlighterCore({ themes: [theme], langs: grammars as never, engine: createJavaScriptRegexEngine({ forgiving: true }) });
  return (code, language) => {
    const lang = byName.get(language);
    if (lang === undefined) return escapeHtml(code);
    // The first line of a language compiles its grammar, which on a busy machine takes longer than the library would wait.
    const lines = highlighter.codeToTokensBase(code, { lang, theme: 'classes', tokenizeTimeLimit: 0 });
    return lines
      .map((tokens) =>
        runs(tokens)
          .map(([kind, text]) => (kind === '' ? escapeHtml(text) : `<span class="t-${kind}">${escapeHtml(text)}</span>`))
          .join(''),
      )
      .join('\n');
  };
}

interface Grammar {
  name: string;
}

/** Neighbours of one colour as one piece: a page has thousands of tokens. */
function runs(tokens: readonly { content: string; color?: string }[]): [kind: string, text: string][] {
  const pieces: [string, string][] = [];
  for (const { content, color } of tokens) {
    const kind = content.trim() === '' ? (pieces.at(-1)?.[0] ?? '') : kindOf(color);
    const last = pieces.at(-1);
    if (last?.[0] === kind) last[1] += content;
    else pieces.push([kind, content]);
  }
  return pieces;
}

/** `var(--shiki-token-keyword)` is a keyword; what the page has no colour of its own for is plain. */
function kindOf(color: string | undefined): string {
  const kind = /--shiki-token-([a-z-]+)/.exec(color ?? '')?.[1] ?? '';
  return kind === 'punctuation' ? '' : kind;
}

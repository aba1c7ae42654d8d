import { describe, expect, it } from 'vitest';
import { type DocsAssets, layOut } from '#api/docs/layout.ts';
import { textOfHtml } from '#api/docs/escape.ts';
import { openHighlight } from '#api/docs/highlight.ts';
import { llmsFull, llmsIndex } from '#api/docs/llms.ts';
import { type Pages, readPage } from '#api/docs/pages.ts';
import { addressOf, renderPage } from '#api/docs/render.ts';

const ASSETS: DocsAssets = { script: '/docs/assets/s.js', style: '/docs/assets/s.css', search: '/docs/assets/f.js', try: '/docs/assets/t.js' };
const html = (markdown: string, slug = 'webhooks'): string => renderPage(readPage(slug, markdown)).html;

describe('a page', () => {
  it('is titled by its first line and summed up by its first paragraph', () => {
    expect(readPage('a', '# One & two\n\nWhat it is\nabout.\n\nMore.')).toMatchObject({ slug: 'a', title: 'One & two', summary: 'What it is about.' });
  });

  it('without a title is called by its slug, because it must not keep a process from starting', () => {
    expect(readPage('runbooks/gas', 'Text.').title).toBe('runbooks/gas');
  });
});

describe('rendering', () => {
  it('gives headings the anchors GitHub gives them', () => {
    const { headings } = renderPage(readPage('x', '# X\n\n## When a customer says "I paid"\n\n## `depositPath`: where\n\n### Twice\n\n### Twice'));
    expect(headings.map(({ depth, id }) => [depth, id])).toEqual([
      [1, 'x'],
      [2, 'when-a-customer-says-i-paid'],
      [2, 'depositpath-where'],
      [3, 'twice'],
      [3, 'twice-1'],
    ]);
  });

  it.each([
    ['statuses.md', 'webhooks', '/docs/statuses'],
    ['statuses.md#cashouts', 'webhooks', '/docs/statuses#cashouts'],
    ['index.md', 'webhooks', '/docs'],
    ['../runbooks/gas.md', 'webhooks', '/docs/runbooks/gas'],
    ['gas.md', 'runbooks/canary', '/docs/runbooks/gas'],
    ['../docs/backup.md#restore', 'runbooks/canary', '/docs/backup#restore'],
    ['../runbooks/gas.md', 'runbooks/canary', '/docs/runbooks/gas'],
    ['#here', 'webhooks', '#here'],
    ['/docs/api', 'webhooks', '/docs/api'],
    ['https://example.com/a.md', 'webhooks', 'https://example.com/a.md'],
  ])('leads from %s on %s to %s', (href, slug, address) => {
    expect(addressOf(href, slug)).toBe(address);
  });

  it('shows raw HTML as text and marks nothing up that was not', () => {
    expect(html('# X\n\n<script>alert(1)</script>\n\n`<b>`\n\n```text\n</code><script>\n```\n\n[a](x"onclick=".md)')).not.toMatch(/<script|<b>|onclick="/);
  });

  it('puts blocks of one thing in several languages together, and leaves others apart', () => {
    const grouped = html('# X\n\n```js\na\n```\n\n```python\nb\n```\n\ntext\n\n```sh\nc\n```\n\n```json\n{}\n```');
    expect(grouped.match(/class="languages"/g)).toHaveLength(1);
    expect(grouped).toMatch(
      /<fieldset class="languages">.*<figure class="code" data-language="js" data-label="Node.js">.*data-language="python".*<\/fieldset>\n<p>text/s,
    );
  });

  it('lets a reader choose one of them without a script: a radio button each, the first one chosen', () => {
    const grouped = html('# X\n\n```js\na\n```\n\n```python\nb\n```');
    expect(
      [...grouped.matchAll(/<input type="radio" name="language-1" id="(.*?)" value="(.*?)"( checked)?><label for="(.*?)">/g)].map((one) => one.slice(1)),
    ).toEqual([
      ['language-1-js', 'js', ' checked', 'language-1-js'],
      ['language-1-python', 'python', undefined, 'language-1-python'],
    ]);
  });

  it('lets a row about one name, such as an error code, be led to by it', () => {
    const page = renderPage(readPage('x', '# X\n\n| code | when |\n|---|---|\n| `not_found` | *no* such path |\n| two `words` | else |'));
    expect(page.html.match(/<tr[^>]*>/g)).toEqual(['<tr>', '<tr id="not_found">', '<tr>']);
    expect(page.names).toEqual([{ id: 'not_found', name: 'not_found', text: 'no such path' }]);
  });

  it('colours code by classes and by no style, and leaves its text as it was', async () => {
    const highlight = await openHighlight();
    const code = 'const a = "<b>"; // &\nreturn 1;';
    const coloured = highlight(code, 'js');
    expect(coloured).toMatch(/<span class="t-keyword">const ?<.span>/);
    expect(coloured).not.toMatch(/style=|<b>/);
    expect(textOfHtml(coloured)).toBe(code);
    expect(highlight('<x>', 'promql')).toBe('&lt;x&gt;');
    for (const language of ['js', 'ts', 'python', 'php', 'go', 'sh', 'json', 'yaml', 'sql', 'nginx'])
      expect(textOfHtml(highlight('a: 1', language))).toBe('a: 1');
  });
});

describe('the whole', () => {
  const index = readPage('', '# Docs\n\nSluice takes payments.\n\n## Start\n\n- [A](a.md)\n- [B](b.md)');
  const a = readPage('a', '# A\n\nFirst, see [B](b.md).');
  const b = readPage('b', '# B <&>\n\nSecond.');
  const pages: Pages = {
    index,
    sections: [{ audience: 'For merchants', title: 'Start', pages: [a, b] }],
    bySlug: new Map([index, a, b].map((page) => [page.slug, page])),
  };

  it('lists every page beside each, says which one it is, and leads to its neighbours', () => {
    const document = layOut(ASSETS, pages, b, renderPage(b));
    expect(document).toContain('<li><a href="/docs/b" aria-current="page">B &lt;&amp;&gt;</a></li>');
    expect(document).toContain('<a rel="prev" href="/docs/a"><span>← Before</span>A</a>');
    expect(document).toMatch(/<p>For merchants<\/p>.*<p class="section">Start<\/p>/s);
    expect(document).toContain('<title>B &lt;&amp;&gt; · Sluice</title>');
  });

  it('is told to machines in order, with links that lead from where they stand', () => {
    expect(llmsIndex(pages)).toMatch(
      /^# Sluice\n\n> Sluice takes payments\.\n\n## Start\n\n- \[A\]\(\/docs\/a\.md\): First, see \[B\]\(\/docs\/b\)\.\n- \[B <&>\]\(\/docs\/b\.md\): Second\.\n/,
    );
    expect(llmsFull(pages).indexOf('# A')).toBeLessThan(llmsFull(pages).indexOf('# B'));
  });
});

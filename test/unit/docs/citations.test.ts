import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lineOf, repositoryFiles, textOf } from '#test/fixtures/repository.ts';

// A comment that says `(decisions 10)` names a section of ops/design/decisions.md, one that says `decision 0010` a file of ops/decisions.
// How citations are written stands in ops/design/README.md. BIPs, EIPs and RFCs are other people's and are left alone.

const DESIGN = 'ops/design';
const DECISIONS = 'ops/decisions';
const THIS_FILE = 'test/unit/docs/citations.test.ts';

/** Where the sections of a document stand; the fault matrix is drawn from the code that plays it. */
const DOCUMENTS = new Map<string, Set<string>>(
  readdirSync(DESIGN)
    .filter((name) => name.endsWith('.md') && name !== 'README.md' && name !== 'words.md')
    .map((name) => basename(name, '.md'))
    .map((name) => [
      name,
      new Set([`${DESIGN}/${name}.md`, ...(name === 'reliability' ? ['ops/runbooks/faults.md'] : [])].flatMap((path) => sections(textOf(path)))),
    ]),
);
const NUMBERS = new Set(readdirSync(DECISIONS).flatMap((name) => name.match(/^\d{4}(?=-)/) ?? []));

/** A blank, or the end of a line and what a comment's next line begins with. */
const GAP = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|\/\/|--|#|>)?[ \t]*)`;
const ITEM = String.raw`(?:[A-Z]\d+[a-z]?|\d+(?:\.\d+)*)(?!\w)`;
/** A sentence may begin with one. */
const NAMES = ['decision', ...DOCUMENTS.keys()].map((name) => `[${name.charAt(0).toUpperCase()}${name.charAt(0)}]${name.slice(1)}`);
const CITATION = new RegExp(String.raw`\b(${NAMES.join('|')})${GAP}(${ITEM}(?:(?:,| and| or| to|–)${GAP}?${ITEM})*)`, 'g');
const TRAP = /\btrap ([A-Z])\b/g;

interface Citation {
  document: string;
  section: string;
  position: number;
}

describe('citations', () => {
  const files = repositoryFiles(/\.(tsx?|[cm]?js|mts|sql|md|ya?ml|css|sol)$/).filter((path) => path !== THIS_FILE);

  it('each lead to a section that exists', () => {
    expect(files.flatMap((path) => unresolved(path, textOf(path)))).toEqual([]);
  });

  it('are found in code, in SQL and in prose, one by one and in lists, over the end of a line too', () => {
    const found = (text: string): string[] => citations(text).map(({ document, section }) => `${document} ${section}`);
    expect(found('/** Why (contract 2.8, 4.3; decisions 10). */')).toEqual(['contract 2.8', 'contract 4.3', 'decisions 10']);
    expect(found('-- as (reliability D13 and\n--   D14) asks')).toEqual(['reliability D13', 'reliability D14']);
    expect(found(' * whatever (decisions\n * 10) says, decision 0036 too')).toEqual(['decisions 10', 'decision 0036']);
    expect(found('(ux C5–C7, S3b) (trap D) (decisions 0024 and 0029)')).toEqual([
      'ux C5',
      'ux C7',
      'ux S3b',
      'decisions 0024',
      'decisions 0029',
      'reliability Trap D',
    ]);
    expect(found('contract 0x1234, contract v2, BIP 32, EIP-55, RFC 6238')).toEqual([]);
  });

  it('are refused by file and line where nothing is there', () => {
    expect(unresolved('some.ts', 'one\n// (contract 4.9)')).toEqual(['some.ts:2: contract 4.9']);
    expect(unresolved('some.sql', '-- (reliability D99, decision 0999)')).toEqual(['some.sql:1: reliability D99', 'some.sql:1: decision 0999']);
    expect(unresolved('some.md', 'decisions 10 and 13')).toEqual(['some.md:1: decisions 13']);
    expect(unresolved('some.md', 'decision 10, contract 0010')).toEqual(['some.md:1: decision 10', 'some.md:1: contract 0010']);
  });
});

describe('sections', () => {
  it('say something, each below its heading', () => {
    const silent = repositoryFiles(/\.md$/, DESIGN).flatMap((path) => {
      const lines = textOf(path)
        .split('\n')
        .filter((line) => line.trim() !== '');
      const depth = (line: string | undefined): number => /^(#+) /.exec(line ?? '')?.[1]?.length ?? 9;
      return lines.filter((line, at) => depth(line) < 9 && depth(lines[at + 1]) <= depth(line)).map((line) => `${path}: ${line}`);
    });
    expect(silent).toEqual([]);
  });

  it('have one number each', () => {
    const twice = repositoryFiles(/\.md$/, DESIGN).flatMap((path) => {
      const all = sections(textOf(path));
      return all.filter((section, at) => all.indexOf(section) !== at).map((section) => `${path}: ${section}`);
    });
    expect(twice).toEqual([]);
  });

  it('are in documents that the way to cite them names', () => {
    const readme = textOf(`${DESIGN}/README.md`);
    expect([...DOCUMENTS.keys()].filter((name) => !readme.includes(`\`${name} `))).toEqual([]);
  });
});

describe('links of design, decisions and the pages for contributors', () => {
  it('lead to files that exist', () => {
    const pages = [...repositoryFiles(/\.md$/, DESIGN), ...repositoryFiles(/\.md$/, DECISIONS), 'README.md', 'CONTRIBUTING.md'];
    const broken = pages.flatMap((path) =>
      [...textOf(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]+)/g)]
        .filter(([, target = '']) => !existsSync(normalize(join(dirname(path), target))))
        .map(([, target]) => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });
});

/** What a text cites, in its order. Pure. */
function citations(text: string): Citation[] {
  const lists = [...text.matchAll(CITATION)].flatMap(({ 1: document = '', 2: list = '', index }) =>
    (list.match(new RegExp(ITEM, 'g')) ?? []).map((section) => ({ document: document.toLowerCase(), section, position: index })),
  );
  const traps = [...text.matchAll(TRAP)].map(({ 1: letter, index }) => ({ document: 'reliability', section: `Trap ${letter}`, position: index }));
  return [...lists, ...traps];
}

/** What a file cites that does not exist, as `file:line: citation`. Of decisions a number of four digits is a file of ops/decisions. */
function unresolved(path: string, text: string): string[] {
  return citations(text)
    .filter(({ document, section }) =>
      document.startsWith('decision') && /^\d{4}$/.test(section) ? !NUMBERS.has(section) : DOCUMENTS.get(document)?.has(section) !== true,
    )
    .map(({ document, section, position }) => `${path}:${lineOf(text, position)}: ${document} ${section}`);
}

/** The numbers by which a document's headings, and rows of its tables that begin with an id, are cited. Pure. */
function sections(markdown: string): string[] {
  const headings = [...markdown.matchAll(/^#{2,4} (Trap [A-Z]|[A-Z]\d+[a-z]?|\d+(?:\.\d+)*)(?= |$)/gm)];
  const rows = [...markdown.matchAll(/^\| ([A-Z]\d+[a-z]?) \|/gm)];
  return [...headings, ...rows].map(([, section = '']) => section);
}

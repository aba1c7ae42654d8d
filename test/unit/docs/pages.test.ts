import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { CONTRACT_REVISION } from '#api/http/envelope.ts';
import { readPages } from '#api/docs/pages.ts';
import { addressOf, renderPage } from '#api/docs/render.ts';
import { COMMANDS } from '#ops/cli/commands.ts';
import { parseCommandLine } from '#ops/cli/parse.ts';
import { ERRORS } from '#shared/core/errors.ts';
import { POLICY, RATE_LIMITS } from '#shared/core/policy.ts';
import { SCENARIOS } from '#state-machines/payment/scenario.ts';
import { type DocumentedPage, documentedPage, documentedPages, type Fence, sluiceCommands } from '#test/fixtures/documentation.ts';

// What holds for every page of ops/docs and ops/runbooks, whoever wrote it, and what single pages must not forget.

const pages = documentedPages();
const read = readPages({ pages: 'ops/docs', runbooks: 'ops/runbooks' });
const LANGUAGES = ['sh', 'json', 'yaml', 'js', 'ts', 'python', 'php', 'go', 'sql', 'promql', 'nginx', 'text'];
const SCRIPTS = Object.keys((JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }).scripts);
/** Where settings are read or told about. */
const SETTINGS = ['.env.example', 'docker-compose.yml', ...sourcesOf('shared/platform'), ...sourcesOf('ops'), ...sourcesOf('test/harness')]
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
/** Where metrics are defined, and what is recorded from them. */
const METRICS = [...sourcesOf('shared/platform'), ...sourcesOf('ops/prometheus', /\.ya?ml$/)].map((path) => readFileSync(path, 'utf8')).join('\n');
const isRunbook = ({ slug }: DocumentedPage): boolean => slug.startsWith('runbooks/');

describe('every page', () => {
  it('begins with a title and a summary of a few sentences, and is plain Markdown', () => {
    expect(
      problems((page) => {
        const { title, summary } = read.bySlug.get(page.slug) ?? { title: '', summary: '' };
        return [
          ...(page.markdown.startsWith(`# ${title}\n\n`) ? [] : ['does not begin with "# ", its title, and an empty line']),
          ...(/^[^#|`-].{20,400}$/.test(summary) ? [] : [`has no summary of a few sentences below its title: ${summary}`]),
          ...page.foreign.map((html) => `has raw HTML or an image: ${html}`),
        ];
      }),
    ).toEqual([]);
  });

  it('leads to pages and sections that exist', () => {
    expect(problems((page) => page.links.filter((href) => !leadsSomewhere(href, page.slug)))).toEqual([]);
  });

  it('has blocks of code that can be read by what they are for', () => {
    expect(problems((page) => [...page.fences.flatMap(unreadable), ...shellErrors(page)])).toEqual([]);
  });

  it('shows every row of a table in that table', () => {
    expect(problems((page) => renderPage(page).html.match(/<p>\|.*/g) ?? [])).toEqual([]);
  });

  it('names commands of the CLI that exist', () => {
    expect(
      problems((page) => {
        const errors = (fence: Fence): string[] => sluiceCommands(fence).flatMap((words) => thrownBy(() => parseCommandLine(words, COMMANDS)));
        // A sentence may name a command without saying what it is given.
        const told = inline(page, /`npx sluice ([^`]+)`/g).flatMap((line) => errors({ language: 'sh', words: [], text: `npx sluice ${line}` }));
        return [...page.fences.flatMap(errors), ...told.filter((error) => !error.endsWith('an argument is missing'))];
      }),
    ).toEqual([]);
  });

  it('names scripts, settings and metrics that exist', () => {
    expect(
      problems((page) => [
        ...inline(page, /npm run ([a-z][a-z:-]*)/g).filter((script) => !SCRIPTS.includes(script)),
        ...inline(page, /\b(SLUICE_[A-Z_]+[A-Z])\b/g).filter((name) => !SETTINGS.includes(name.replace(/_FILE$/, ''))),
        ...inline(page, /\b(sluice_[a-z_]+[a-z])\b/g).filter((name) => !METRICS.includes(name.replace(/_(bucket|sum|count)$/, ''))),
      ]),
    ).toEqual([]);
  });
});

describe('the index', () => {
  it('lists every page once', () => {
    const listed = read.sections.flatMap((section) => section.pages.map(({ slug }) => slug));
    const written = pages.filter((page) => page.slug !== '' && !isRunbook(page)).map(({ slug }) => slug);
    expect([...listed].sort()).toEqual([...written].sort());
  });
});

describe('errors.md', () => {
  it('has every code with its HTTP status, and no other', () => {
    const rows = [...documentedPage('errors').markdown.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| \S.* \| \S.* \|$/gm)].map((match) => [
      match[1],
      Number(match[2]),
    ]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])));
    expect(rows.length).toBe(Object.keys(ERRORS).length);
  });
});

describe('the rate limits of errors.md', () => {
  it('are those of the service, and ten times as much with a key', () => {
    const rows = [...documentedPage('errors').markdown.matchAll(/^\| [a-z].* \| ([\d,]+) \| ([\d,]+) \|$/gm)].map((match) =>
      match.slice(1).map((figure) => Number(figure.replaceAll(',', ''))),
    );
    expect(new Set(rows.map(([without]) => without))).toEqual(new Set(Object.values(RATE_LIMITS)));
    for (const [without = 0, withKey] of rows) expect(withKey).toBe(without * POLICY.rateLimitServerFactor);
  });
});

describe('what the contract can answer', () => {
  const { schemas } = (parse(readFileSync('api/contract/openapi.yaml', 'utf8')) as { components: { schemas: Record<string, Schema> } }).components;

  it.each<[string, string, string[]]>([
    ['statuses', 'a payment can have', schemas.PaymentStatus?.enum ?? []],
    ['statuses', 'a cashout can have', schemas.SettlementStatus?.enum ?? []],
    ['statuses', 'a deposit path can be', schemas.DepositPath?.enum ?? []],
    ['statuses', 'screening can say', schemas.AmlState?.enum ?? []],
    ['statuses', 'a deposit can be in', schemas.PaymentDeposit?.properties?.state?.enum ?? []],
    ['webhooks', 'a webhook can be in', schemas.WebhookDelivery?.properties?.state?.enum ?? []],
    ['accept-a-payment', 'an inquiry can find', schemas.InquiryResult?.properties?.resultCode?.enum ?? []],
  ])('%s.md has a row for everything %s', (slug, _what, values) => {
    expect(values.length).toBeGreaterThan(2);
    const { markdown } = documentedPage(slug);
    expect(values.filter((value) => !new RegExp(`^\\| \`${value}\` \\|`, 'm').test(markdown))).toEqual([]);
  });

  it('sandbox.md has a row for every scenario', () => {
    const { markdown } = documentedPage('sandbox');

    expect(SCENARIOS.filter((scenario) => !markdown.includes(`\n| \`${scenario}\` |`))).toEqual([]);
  });
});

describe('changelog.md', () => {
  it('begins with the revision that is served', () => {
    expect(/^## (.+)$/m.exec(documentedPage('changelog').markdown)?.[1]).toBe(CONTRACT_REVISION);
  });
});

/** What is wrong with any page, each with its path before it. */
function problems(of: (page: DocumentedPage) => string[]): string[] {
  return pages.flatMap((page) => of(page).map((problem) => `${page.path}: ${problem}`));
}

function unreadable({ language, text }: Fence): string[] {
  if (!LANGUAGES.includes(language)) return [`has a block of "${language}": ${text.slice(0, 80)}`];
  if (language === 'json') return thrownBy(() => JSON.parse(text));
  if (language === 'yaml') return parseAllDocuments(text).flatMap((document) => document.errors.map(({ message }) => message));
  return language === 'js' || language === 'ts' ? thrownBy(() => transformSync(text, { loader: language, logLevel: 'silent' })) : [];
}

/** What bash says about a page's shell blocks, where a reader's values are filled in. */
function shellErrors({ fences }: DocumentedPage): string[] {
  const input = fences
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text.replaceAll(/<[A-Za-z][A-Za-z -]*>/g, 'X'))
    .join('\n');
  return input === '' ? [] : [spawnSync('bash', ['-n'], { input, encoding: 'utf8' }).stderr].filter((error) => error !== '');
}

function thrownBy(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

interface Schema {
  enum?: string[];
  properties?: Record<string, Schema>;
}

function leadsSomewhere(href: string, slug: string): boolean {
  if (/^https?:/.test(href)) return true;
  if (['/docs/api', '/docs/operator-api', '/docs/checkout-api', '/openapi.json', '/llms.txt', '/llms-full.txt'].includes(href)) return true;
  const [path = '', anchor] = (href.startsWith('#') ? `/docs/${slug}${href}` : addressOf(href, slug)).split('#');
  const target = read.bySlug.get(path.replace(/^\/docs\/?/, ''));
  if (target === undefined || path === href) return false;
  const { headings, names } = renderPage(target);
  return anchor === undefined || [...headings, ...names].some(({ id }) => id === anchor);
}

function sourcesOf(folder: string, names = /\.(ts|mjs)$/): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => names.test(name))
    .map((name) => `${folder}/${name}`);
}

function inline({ markdown }: DocumentedPage, pattern: RegExp): string[] {
  return [...markdown.matchAll(pattern)].map((match) => match[1] ?? '');
}

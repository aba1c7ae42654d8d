import { POLICY, RATE_LIMITS } from '#shared/core/policy.ts';
import { escapeHtml } from '../escape.ts';
import type { Highlight } from '../highlight.ts';
import { neighbourLinks } from '../navigation.ts';
import { codeBlock, groupLanguages, type Heading, plainText, renderPage } from '../render.ts';
import type { Findable } from '../search.ts';
import { type Answer, type Contract, type Operation, operationsOf, type Parameter, type Scheme } from './contract.ts';
import { examplesOf, type Field, fieldsOf, merged, typeOf } from './schemas.ts';
import { callOf, samplesOf } from './samples.ts';
import { drawTryForm } from './try-form.ts';

/** One contract as a part of the documentation. */
export interface Reference {
  /** Where its first page is: `/docs/api`. */
  address: string;
  title: string;
  /** What its paths hang below: `/api/v1`, or a whole address where that is another one than the documentation's. */
  root: string;
  contract: Contract;
  operations: readonly Operation[];
  /** Address of the script that sends operations from the page; null where none is to be sent. */
  tryProgram: string | null;
  /** Whether RATE_LIMITS has a budget for each operation. */
  limited: boolean;
}

/** Takes a contract apart. Pure. */
export function openReference({ contract, ...rest }: Omit<Reference, 'operations'>): Reference {
  return { ...rest, contract, operations: operationsOf(contract) };
}

/** Where an operation is told. Pure. */
export function addressOfOperation({ address }: Reference, { slug }: Operation): string {
  return `${address}/${slug}`;
}

/** Every operation by its group, beside each page of the reference. Pure. */
export function referenceNavigation(reference: Reference, current: Operation | undefined): string {
  const link = (operation: Operation): string =>
    `<li><a href="${addressOfOperation(reference, operation)}"${operation === current ? ' aria-current="page"' : ''}>${escapeHtml(operation.summary)}</a></li>`;
  const first = `<ul><li><a href="/docs">← All pages</a></li><li><a href="${reference.address}"${current === undefined ? ' aria-current="page"' : ''}>${escapeHtml(reference.title)}</a></li></ul>`;
  return [
    first,
    ...groupsOf(reference).map(({ name, operations }) => `<p class="section">${escapeHtml(name)}</p><ul>${operations.map(link).join('')}</ul>`),
  ].join('\n');
}

function groupsOf({ contract, operations }: Reference): { name: string; description: string; operations: Operation[] }[] {
  return (contract.tags ?? [])
    .map(({ name, description = '' }) => ({ name, description, operations: operations.filter(({ group }) => group === name) }))
    .filter((group) => group.operations.length > 0);
}

/** The first page: what holds for all operations, after the list of them. Pure. */
export function drawOverview(reference: Reference, highlight: Highlight): { html: string; headings: readonly Heading[] } {
  const { contract, title } = reference;
  const groups = groupsOf(reference).map(({ name, description, operations }) => {
    const rows = operations.map(
      (operation) =>
        `<li><a href="${addressOfOperation(reference, operation)}">${escapeHtml(operation.summary)}</a><span class="route">${badge(operation.method)} <code>${escapeHtml(operation.path)}</code></span></li>`,
    );
    return `<h3>${escapeHtml(name)}</h3>\n${text(description)}<ul class="operations">${rows.join('')}</ul>`;
  });
  const markdown = `# ${title}\n\n${contract.info.summary ?? ''}\n\n## Operations\n\n${contract.info.description ?? ''}${drawnWebhooks(contract)}`;
  const { html, headings } = renderPage({ slug: 'api', markdown }, highlight);
  const [before = '', after = ''] = split(html, '</h2>\n');
  return { html: `${before}</h2>\n${groups.join('\n')}\n${after.replace(/^(?=<p>)/, '<hr>')}`, headings };
}

function split(whole: string, mark: string): [string, string] {
  const at = whole.indexOf(mark);
  return [whole.slice(0, at), whole.slice(at + mark.length)];
}

/** What Sluice asks of the merchant, as Markdown. */
function drawnWebhooks({ webhooks = {} }: Contract): string {
  return Object.values(webhooks)
    .flatMap((item) => Object.values(item))
    .map(({ summary = '', description = '' }) => `\n\n## ${summary}\n\n${description}\n\nHow to receive it is told in [Webhooks](webhooks.md).`)
    .join('');
}

const PROOFS: Readonly<Record<Scheme, string>> = {
  apiKey: 'An API key in <code>X-Api-Key</code>, from your server.',
  signedRequest: 'An API key, and a <a href="/docs/signing">signature</a> with the cashout signing secret, from an address on the cashout allowlist.',
  operatorToken: 'The operator token: <code>Authorization: Bearer …</code>.',
  none: 'No key: the id of the payment is the credential.',
};

/** The page of one operation: what it takes and answers, beside what that looks like. Pure. */
export function drawOperation(reference: Reference, operation: Operation, highlight: Highlight): string {
  const { contract, operations } = reference;
  const at = operations.indexOf(operation);
  const neighbour = (one: Operation | undefined) => one && { href: addressOfOperation(reference, one), title: one.summary };
  return `<p class="crumbs"><a href="${reference.address}">${escapeHtml(reference.title)}</a> · ${escapeHtml(operation.group)}</p>
<h1>${escapeHtml(operation.summary)}</h1>
<p class="route route-large">${badge(operation.method)} <code>${escapeHtml(reference.root + operation.path)}</code></p>
${contentsOf(reference, operation)}
<div class="operation">
<div class="operation-told">
${text(operation.description)}
<dl class="terms">${terms(reference, operation)}</dl>
${parameters(contract, operation)}
${body(contract, operation)}
${answers(contract, operation)}
${reference.tryProgram === null ? '' : drawTryForm(reference.tryProgram, reference.root, operation, callOf(contract, reference.root, operation))}
</div>
<div class="operation-shown">
<h2 class="hidden-visually">Examples</h2>
${samples(reference, operation, highlight)}
${shownAnswers(contract, operation, highlight)}
</div>
</div>
${neighbourLinks([neighbour(operations[at - 1]), neighbour(operations[at + 1])])}`;
}

/** What is on the page, in one line; those that were looked for by their id are further down than a screen. */
function contentsOf({ tryProgram }: Reference, { parameters, body, answers: all }: Operation): string {
  const parts = [
    ...(parameters.length === 0 ? [] : ['Parameters']),
    ...(body === undefined ? [] : ['Body']),
    'Answers',
    ...(all.some((answer) => !isGood(answer)) ? ['Errors'] : []),
    ...(tryProgram === null ? [] : ['Try it']),
  ];
  const links = parts.map(
    (part) => `<li${part === 'Try it' ? ' class="needs-program"' : ''}><a href="#${part.toLowerCase().replace(' ', '-')}">${part}</a></li>`,
  );
  return `<nav class="on-page" aria-label="On this page"><ul>${links.join('')}</ul></nav>`;
}

function terms({ limited }: Reference, { id, scheme, permissions }: Operation): string {
  const limit = limited ? RATE_LIMITS[id] : undefined;
  const count = (calls: number): string => calls.toLocaleString('en');
  return [
    ['Who may', PROOFS[scheme]],
    ...(permissions.length === 0 ? [] : [['Permission', permissions.map((name) => `<code>${escapeHtml(name)}</code>`).join(', ')]]),
    ...(limit === undefined
      ? []
      : [
          [
            'Calls a minute',
            `${count(limit)} from an address; ${count(limit * POLICY.rateLimitServerFactor)} with a key. <a href="/docs/errors#rate-limits">Rate limits</a>`,
          ],
        ]),
    ['Called', `<code>${escapeHtml(id)}</code> in <a href="/openapi.json">openapi.json</a>`],
  ]
    .filter(([name]) => limited || name !== 'Called')
    .map(([name, told]) => `<div><dt>${name}</dt><dd>${told}</dd></div>`)
    .join('');
}

function parameters(contract: Contract, operation: Operation): string {
  const named = (
    [
      ['path', 'In the path'],
      ['query', 'In the query'],
      ['header', 'Headers'],
    ] as const
  ).flatMap(([place, title]) => {
    const some = operation.parameters.filter((one) => one.in === place);
    return some.length === 0
      ? []
      : [
          `<h3>${title}</h3>\n${list(
            some.map((one) => asField(contract, one)),
            '',
          )}`,
        ];
  });
  return named.length === 0 ? '' : `${heading('Parameters')}\n${named.join('\n')}`;
}

/** A parameter is told like a field. */
function asField(contract: Contract, { name, required = false, description = '', schema = {} }: Parameter): Field {
  const own = merged(contract, schema);
  const [told] = fieldsOf(contract, { type: 'object', properties: { [name]: own } });
  return {
    name,
    type: typeOf(contract, own),
    required,
    deprecated: false,
    description: description || told?.description || '',
    facts: told?.facts ?? [],
    values: told?.values ?? [],
    fields: [],
  };
}

function body(contract: Contract, operation: Operation): string {
  if (operation.body === undefined) return '';
  const fields = fieldsOf(contract, operation.body.media.schema);
  return `${heading('Body')}\n${operation.body.required ? '' : '<p class="hint">May be left out.</p>'}${list(fields, '')}`;
}

function answers(contract: Contract, { answers: all }: Operation): string {
  const good = all.filter(isGood);
  const told = good.map((answer) => {
    const fields = fieldsOf(contract, answer.media?.schema);
    const data = fields.find(({ name }) => name === 'data');
    // The envelope is the same everywhere, and told once.
    const shown = data === undefined ? fields.filter(({ name }) => name !== 'success') : data.fields;
    const known = data === undefined ? '' : `<p class="hint">In <code>data</code>${data.type.startsWith('list') ? ', of each' : ''}:</p>`;
    return `<h3><code>${answer.status}</code> ${escapeHtml(answer.description)}</h3>\n${shown.length === 0 ? '' : known + list(shown, good.length > 1 ? `${answer.status}.data.` : 'data.')}`;
  });
  const failures = all.filter((answer) => !isGood(answer) && /^\d/.test(answer.status));
  const rows = failures.map((answer) => {
    const codes = codesOf(contract, answer).map((code) => `<a href="/docs/errors#${code}"><code>${code}</code></a>`);
    return `<tr id="${answer.status}"><td>${answer.status}</td><td>${[...codes, escapeHtml(answer.description)].join('<br>')}</td></tr>`;
  });
  const table =
    rows.length === 0
      ? ''
      : `${heading('Errors')}\n<div class="table" tabindex="0"><table><thead><tr><th>HTTP</th><th>code</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
  return `${heading('Answers')}\n${told.join('\n')}\n${table}`;
}

function isGood({ status }: Answer): boolean {
  return /^[123]/.test(status);
}

/** Codes that an answer may carry, as far as the contract names them. */
function codesOf(contract: Contract, { media }: Answer): readonly string[] {
  const error = fieldsOf(contract, media?.schema).find(({ name }) => name === 'error');
  return error?.fields.find(({ name }) => name === 'code')?.values ?? [];
}

function list(fields: readonly Field[], prefix: string): string {
  return `<ul class="fields">${fields.map((field) => drawnField(field, prefix)).join('')}</ul>`;
}

function drawnField({ name, type, required, deprecated, description, facts, values, fields }: Field, prefix: string): string {
  const id = escapeHtml(prefix + name);
  const told = [
    values.length > 1
      ? `One of ${values.map((value) => `<code>${escapeHtml(value)}</code>`).join(', ')}.`
      : values.length === 1
        ? `Always <code>${escapeHtml(values[0] ?? '')}</code>.`
        : '',
    facts.length > 0 ? `${escapeHtml(`${(facts[0] ?? '').charAt(0).toUpperCase()}${[(facts[0] ?? '').slice(1), ...facts.slice(1)].join(', ')}`)}.` : '',
  ].filter((line) => line !== '');
  const below =
    fields.length === 0
      ? ''
      : `<details><summary>${fields.length === 1 ? 'Its field' : `Its ${fields.length} fields`}</summary>${list(fields, `${prefix}${name}.`)}</details>`;
  return `<li id="${id}"><p class="field"><a class="field-name" href="#${id}"><code>${escapeHtml(name)}</code></a> <span class="hint">${escapeHtml(type)}</span>${required ? ' <span class="required">required</span>' : ''}${deprecated ? ' <span class="required">deprecated</span>' : ''}</p>${text(description)}${told.length === 0 ? '' : `<p class="hint">${told.join(' ')}</p>`}${below}</li>`;
}

function samples(reference: Reference, operation: Operation, highlight: Highlight): string {
  const all = samplesOf(reference.contract, reference.root, operation);
  return groupLanguages(all.map(({ language, code }) => codeBlock(code, language, highlight)).join(''));
}

function shownAnswers(contract: Contract, { answers: all }: Operation, highlight: Highlight): string {
  return all
    .filter((answer) => isGood(answer) && answer.media !== undefined)
    .flatMap((answer) =>
      examplesOf(contract, answer.media).map(
        ({ title, value }) =>
          `<h3>Answer ${answer.status}${title === '' ? '' : `: ${escapeHtml(title)}`}</h3>\n${codeBlock(JSON.stringify(value, null, 2), 'json', highlight)}`,
      ),
    )
    .join('\n');
}

function heading(title: string): string {
  const id = title.toLowerCase();
  return `<h2 id="${id}">${title} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h2>`;
}

function badge(method: string): string {
  return `<span class="method method-${method.toLowerCase()}">${method}</span>`;
}

/** A description as HTML; it may hold Markdown. */
function text(markdown: string): string {
  return markdown === '' ? '' : renderPage({ slug: 'api', markdown }).html;
}

/** What the search finds of a reference: operations by what they do, their names and their paths. Pure. */
export function findableOperations(reference: Reference): Findable[] {
  return reference.operations.map((operation) => ({
    title: operation.summary,
    where: `${reference.title} · ${operation.method} ${operation.path}`,
    also: operation.id,
    words: plainText(operation.description.split('\n\n')[0] ?? ''),
    href: addressOfOperation(reference, operation),
    weight: reference.address === '/docs/api' ? 1.2 : 0.6,
  }));
}

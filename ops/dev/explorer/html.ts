import type { NetworkConfig } from '#shared/core/assets.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';

/** A page and the status it is answered with. */
export interface Page {
  status: 200 | 404;
  html: string;
}

/** What there is a page for. */
export type PageKind = 'tx' | 'block' | 'address';

/** The pages of one local chain: what it does not know is a page with status 404; undefined for what is no id of that kind. */
export type Pages = (kind: PageKind, id: string) => Promise<Page | undefined>;

/** keccak256('Transfer(address,address,uint256)'), without 0x. */
export const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** HTML that is safe to send: made by `markup` and the functions below only. */
export interface Html {
  html: string;
}

/** Joins safe pieces; a plain string cannot get in. */
export function markup(parts: TemplateStringsArray, ...pieces: Html[]): Html {
  return { html: parts.map((part, index) => part + (pieces[index]?.html ?? '')).join('') };
}

/** Text from anywhere, harmless. */
export function text(value: string): Html {
  return { html: value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;') };
}

/** Text in a fixed-width face. */
export function code(value: string): Html {
  return markup`<code>${text(value)}</code>`;
}

/** A link whose label is a hash, an address or a number. */
export function link(path: string, label: string): Html {
  return markup`<a href="${text(path)}"><code>${text(label)}</code></a>`;
}

/** A link to an address in its canonical form; a dash for none. */
export function addressLink(network: NetworkConfig, address: string | null): Html {
  return address === null ? text('-') : link(`/explorer/${network.name}/address/${address}`, address);
}

/** A link to a block. */
export function blockLink(network: NetworkConfig, number: number): Html {
  return link(`/explorer/${network.name}/block/${number}`, String(number));
}

/** Unix seconds as ISO text. */
export function time(seconds: string | number): Html {
  return text(new Date(Number(seconds) * 1_000).toISOString());
}

/** Names and what they are worth. */
export function factTable(rows: [string, Html][]): Html {
  return { html: `<table>${rows.map(([name, value]) => `<tr><th scope="row">${text(name).html}</th><td>${value.html}</td></tr>`).join('')}</table>` };
}

/** A table with a header row. */
export function table(header: string[], rows: Html[][]): Html {
  const head = header.map((name) => `<th scope="col">${text(name).html}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell.html}</td>`).join('')}</tr>`).join('');
  return { html: `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>` };
}

/** A whole HTML document. */
export function documentOf(title: string, body: Html): string {
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(title)}</title>
<style>body{font:1rem/1.5 sans-serif;margin:2rem;overflow-wrap:anywhere}th{text-align:left;padding-right:1.5rem;vertical-align:top;white-space:nowrap}</style></head>
<body>${body}</body></html>
`.html;
}

/** A whole page of an explorer. */
export function page(network: NetworkConfig, kind: string, id: string, body: Html, status: Page['status'] = 200): Page {
  const { name } = network;
  const head = markup`<h1>${text(kind)}</h1><p>${text(name)}, a local chain: nothing here is real money.</p><p>${code(id)}</p>`;
  return { status, html: documentOf(`${kind} ${id}`, markup`${head}${body}`) };
}

/** The page of what a chain does not know. */
export function unknown(network: NetworkConfig, kind: string, id: string): Page {
  return page(network, `Unknown ${kind}`, id, markup`<p>This chain does not know it (any more).</p>`, 404);
}

/** Chain units as decimal text. */
export function units(raw: string | bigint, decimals: number): string {
  return formatAmount(fromUnits(BigInt(raw), decimals));
}

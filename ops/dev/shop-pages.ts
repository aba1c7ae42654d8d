import { code, documentOf, type Html, factTable, markup, text } from './explorer/html.ts';

/** What the demo shop answers with. */
export interface ShopAnswer {
  type: string;
  body: string;
}

/** Where the demo shop has what payers of its payments see of it. */
export const SHOP = { thanks: '/thanks', help: '/help', logo: '/logo.svg' } as const;

/** A book. */
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="#7a2e2e"/>
<path d="M24 15c-4-3-9-3-13-2v20c4-1 9-1 13 2 4-3 9-3 13-2V13c-4-1-9-1-13 2zm0 0v20" fill="none" stroke="#fff" stroke-width="2.5" stroke-linejoin="round"/></svg>
`;

/** The pages of the demo shop; undefined for any other path. What they are called with is shown, and never believed. */
export function shopPage(path: string, query: URLSearchParams): ShopAnswer | undefined {
  if (path === SHOP.logo) return { type: 'image/svg+xml', body: LOGO };
  if (path === SHOP.thanks) return html('Thank you', THANKS, query);
  return path === SHOP.help ? html('Help', HELP, query) : undefined;
}

const THANKS = markup`<p>Anybody can type these: a shop fulfils an order from the answer of <code>POST /payments/{paymentUid}/verify</code>, never from this page.</p>`;
const HELP = markup`<p>A payer's question comes with the payment's id. Its whole story: <code>npx sluice payment show</code> and that id.</p>`;

function html(title: string, remark: Html, query: URLSearchParams): ShopAnswer {
  const parameters = [...query].map(([name, value]): [string, Html] => [name, code(value)]);
  const carried = parameters.length === 0 ? markup`<p>no parameters.</p>` : factTable(parameters);
  const body = markup`<h1>${text(title)}</h1><p>This is the demo shop, opened with</p>${carried}${remark}`;
  return { type: 'text/html; charset=utf-8', body: documentOf(title, body) };
}

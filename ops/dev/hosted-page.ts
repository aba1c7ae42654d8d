/** What somebody reads on the hosted page. */
export interface ShownPage {
  /** The screen: `choose`, `pay`, `seen`, `success` and so on. */
  state: string;
  /** With its asset: `20.14 USDT`; undefined on screens that ask for nothing. */
  amount: string | undefined;
  address: string | undefined;
  /** Where its link back to the merchant leads. */
  returnUrl: string | undefined;
}

/** The rest of a tag: what is quoted may hold anything but quotes. */
const REST = '(?:[^">]|"[^"]*")*';

/** Reads the page out of its HTML, as it came or as a program has changed it since. Pure. @throws when it is no page of a payment */
export function readPage(html: string): ShownPage {
  const main = tagsOf(html, 'main')[0];
  const state = main === undefined ? undefined : attributeOf(main, 'data-state');
  if (state === undefined) throw new Error(`this is no page of a payment: ${html.slice(0, 80)}`);
  const back = tagsOf(html, 'a').find((tag) => attributeOf(tag, 'data-part') === 'return');
  return { state, amount: textOf(html, 'amount'), address: textOf(html, 'address'), returnUrl: back === undefined ? undefined : attributeOf(back, 'href') };
}

function tagsOf(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(`<${name}\\b${REST}>`, 'g'))].map(([tag]) => tag);
}

function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : plain(value);
}

/** The text of a part, without the elements it is laid out in. */
function textOf(html: string, part: string): string | undefined {
  const inner = new RegExp(`<([a-z]+)\\b${REST}\\sdata-part="${part}"${REST}>(.*?)</\\1>`, 's').exec(html)?.[2];
  return inner === undefined ? undefined : plain(inner.replace(new RegExp(`</?[a-z]+${REST}>`, 'g'), '')).trim();
}

function plain(escaped: string): string {
  return escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}

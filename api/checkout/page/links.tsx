import type { ComponentChildren, JSX } from 'preact';
import { Changing } from './changing.tsx';
import { Icon } from '#api/page/icons.tsx';
import { parseUrl } from '#shared/core/parse-url.ts';
import type { View } from './view.ts';

interface OutsideLinkProps {
  view: View;
  href: string;
  /** Class names. */
  look?: string;
  part?: string;
  children: ComponentChildren;
}

/** A link to somebody else's site: it opens beside the payment, and learns nothing of where it was clicked (ux 0.7). */
export function OutsideLink({ view, href, look, part, children }: OutsideLinkProps): JSX.Element {
  return (
    <a class={look} href={href} data-part={part} target="_blank" rel="noreferrer noopener">
      {children}
      <Icon name="out" />
      <span class="hidden-visually"> {view.translate('link.new-tab')}</span>
    </a>
  );
}

/** Back to the merchant's page, with what the callback carries at this status. */
export function ReturnLink({ view, look = 'button', now = false }: { view: View; look?: string; now?: boolean }): JSX.Element {
  const { merchant, returnUrl } = view.snapshot;
  return (
    <a class={look} href={returnUrl} data-part="return" rel="noreferrer noopener">
      <Changing text={now ? view.translate('returning.now') : view.translate('return.to', { merchant: merchant.name })} />
    </a>
  );
}

/** The merchant's own help, told which payment it is about; nothing where there is none (ux C10). */
export function ContactLink({ view, text, look = 'quiet' }: { view: View; text: 'contact.now' | 'contact.link'; look?: string }): JSX.Element | null {
  const { merchant, payment } = view.snapshot;
  const href = merchant.supportUrl === null ? null : contactHref(merchant.supportUrl, payment.id);
  if (href === null) return null;
  return (
    <OutsideLink view={view} href={href} look={look} part="contact">
      {view.translate(text, { merchant: merchant.name })}
    </OutsideLink>
  );
}

/** The support address with the payment's id in it: a query field, or the subject of a mail. Null if it is no web or mail address. Pure. */
export function contactHref(supportUrl: string, paymentId: string): string | null {
  const url = parseUrl(supportUrl);
  if (url === null) return null;
  if (url.protocol === 'mailto:') {
    if (!url.searchParams.has('subject')) url.search = `${url.search}${url.search === '' ? '?' : '&'}subject=${encodeURIComponent(paymentId)}`;
    return url.href;
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  url.searchParams.set('paymentUid', paymentId);
  return url.href;
}

/** The page's own address with `query`, keeping a language that was asked for. Pure. */
export function ownHref({ path, language, languageAsked }: Pick<View, 'path' | 'language' | 'languageAsked'>, query = ''): string {
  const fields = [languageAsked ? `lang=${encodeURIComponent(language.tag)}` : '', query].filter((field) => field !== '');
  return fields.length === 0 ? path : `${path}?${fields.join('&')}`;
}

/** Where the receipt of a paid payment is, in the language that was asked for. Pure. */
export function receiptHref({ path, ...page }: Pick<View, 'path' | 'language' | 'languageAsked'>): string {
  return ownHref({ ...page, path: `${path}/receipt` });
}

/** Runs `act` instead of following a link, unless the payer wants it in another tab. */
export function insteadOf(act: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return;
    event.preventDefault();
    act();
  };
}

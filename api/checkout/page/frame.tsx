import type { ComponentChildren, JSX } from 'preact';
import { Icon } from '#api/page/icons.tsx';
import { UNTRANSLATED } from './figures.tsx';
import { insteadOf, ownHref } from './links.tsx';
import type { Translate } from './messages.ts';
import type { PageFrame } from './model.ts';
import type { MerchantFacts } from './snapshot.ts';

interface FrameProps {
  frame: Omit<PageFrame, 'assets'>;
  translate: Translate;
  /** Null where nothing may be said of whom the payment is for. */
  merchant: MerchantFacts | null;
  testMode: boolean;
  /** True once a program answers to the payer: what needs one is shown then. */
  alive?: boolean;
  /** A query that the languages' links keep. */
  query?: string;
  /** Instead of following a language's link. */
  onLanguage?: ((tag: string) => void) | undefined;
  children: ComponentChildren;
}

/** What is around every page: that it is a test, whose it is, and the languages. */
export function Frame({ frame, translate, merchant, testMode, alive, query, onLanguage, children }: FrameProps): JSX.Element {
  return (
    <div class="page" data-program={alive ? '' : undefined}>
      {testMode && (
        <p class="test-mode" data-part="test-mode">
          {translate('test-mode.banner')}
        </p>
      )}
      <header class="head">
        {merchant ? <Merchant merchant={merchant} /> : <span />}
        <Languages frame={frame} translate={translate} query={query ?? ''} onLanguage={onLanguage} />
      </header>
      {children}
    </div>
  );
}

function Merchant({ merchant }: { merchant: MerchantFacts }): JSX.Element {
  return (
    <p class="merchant" data-part="merchant">
      {merchant.logoPath === null ? (
        <span class="logo logo-letter" aria-hidden="true">
          {[...merchant.name][0]?.toUpperCase()}
        </span>
      ) : (
        <span class="logo">
          <img src={merchant.logoPath} alt="" />
        </span>
      )}
      <span class="merchant-name">
        <bdi>{merchant.name}</bdi>
        {merchant.host !== null && merchant.host !== merchant.name && (
          <bdi dir="ltr" {...UNTRANSLATED} class="merchant-host">
            {merchant.host}
          </bdi>
        )}
      </span>
    </p>
  );
}

/** Links, so that a language is one tap without a program, and nothing changes by moving through them (WCAG 3.2.2). */
function Languages({ frame, translate, query, onLanguage }: Pick<FrameProps, 'frame' | 'translate' | 'onLanguage'> & { query: string }): JSX.Element | null {
  if (frame.languages.length < 2) return null;
  const shown = frame.languages.find(({ tag }) => tag === frame.language.tag)?.name ?? frame.language.tag;
  return (
    <details class="languages" data-part="language">
      <summary aria-label={translate('language.label', { language: shown })}>
        <Icon name="globe" />
        <bdi>{shown}</bdi>
      </summary>
      <ul>
        {frame.languages.map(({ tag, name }) => (
          <li key={tag}>
            <a
              href={ownHref({ path: frame.path, language: { ...frame.language, tag }, languageAsked: true }, query)}
              hreflang={tag}
              lang={tag}
              aria-current={tag === frame.language.tag ? 'true' : undefined}
              onClick={onLanguage ? insteadOf(() => onLanguage(tag)) : undefined}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

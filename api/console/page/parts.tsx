import type { ComponentChildren, JSX } from 'preact';
import { Icon } from '#api/page/icons.tsx';
import { visibleText } from '#shared/core/visible-text.ts';
import type { Echoed, ListScreen, Surroundings } from './model.ts';
import { type Translate, useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** A moment in UTC, which is all the server knows of its reader; the program writes it in the reader's own zone. */
export function Moment({ at, show = 'minute' }: { at: string; show?: 'minute' | 'day' | 'time' }): JSX.Element {
  const text = { minute: `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`, day: at.slice(0, 10), time: at.slice(11, 19) }[show];
  return (
    <time dateTime={at} data-moment={show}>
      {text}
    </time>
  );
}

const WRITTEN_MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence with the moments in it written for people; the service's own are English on every page. */
export function Sentence({ text, english = false }: { text: string; english?: boolean }): JSX.Element {
  const parts = text.split(WRITTEN_MOMENT).map((part, index) => (index % 2 === 0 ? part : <Moment at={part} />));
  return <span lang={english ? 'en' : undefined}>{parts}</span>;
}

const TONES: Readonly<Record<string, 'good' | 'warning' | 'quiet'>> = {
  SUCCESS: 'good',
  ACCEPTABLE: 'good',
  SETTLED: 'good',
  delivered: 'good',
  MISMATCH: 'warning',
  exhausted: 'warning',
  stopped: 'warning',
  PENDING_APPROVAL: 'warning',
  UNDERFUNDED: 'warning',
  WAITING_AML_CREDIT: 'warning',
  CONFIRMED: 'good',
  FAILED: 'warning',
  VERIFIED: 'good',
  SUSPENDED: 'warning',
  HELD: 'warning',
  RELEASED: 'good',
  flagged: 'warning',
  clean: 'good',
  credited: 'good',
  unallocated: 'warning',
  unexplained: 'warning',
  paid: 'good',
  failed: 'warning',
  dead: 'warning',
};

/** A status in the reader's words, with a colour beside it. */
export function Badge({ status }: { status: string }): JSX.Element {
  const t = useTexts();
  return (
    <span class={`badge badge-${TONES[status] ?? 'quiet'}`} data-status={status}>
      {wordFor(t, 'status', status)}
    </span>
  );
}

/** What somebody may do somewhere, in the reader's words. */
export function Role({ name }: { name: string }): JSX.Element {
  return <>{wordFor(useTexts(), 'role', name)}</>;
}

/** Coins with their ticker. Every digit stays. */
export function Coins({ amount, asset }: { amount: string; asset: string }): JSX.Element {
  return (
    <span class="figure">
      {amount} {asset}
    </span>
  );
}

/** What people call a network; of one that is not configured any more, its name. Pure. */
export function networkTitle({ networks }: Pick<Surroundings, 'networks'>, name: string): string {
  return networks[name] ?? name;
}

/** What is taken off a sum. Pure. */
export function less(amount: string): string {
  return /^[0.]*$/.test(amount) ? amount : `−${amount}`;
}

/** A hash, address or id, short for the eye. */
export function Short({ text }: { text: string }): JSX.Element {
  return <code title={text}>{text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text}</code>;
}

/** An address in groups of four, which people compare; it is broken between them alone. */
export function Address({ text }: { text: string }): JSX.Element {
  return (
    <code class="whole" translate={false}>
      {(text.match(/.{1,4}/g) ?? []).map((group) => (
        <span>{group}</span>
      ))}
    </code>
  );
}

/** A hash, address or id, short for the eye, with a way to copy the whole of it, and to its page at a block explorer. */
export function Code({ text, what, href }: { text: string; what: string; href?: string | undefined }): JSX.Element {
  const t = useTexts();
  const code = <Short text={text} />;
  return (
    <span class="unbroken">
      {href === undefined || !/^https?:\/\//.test(href) ? (
        code
      ) : (
        <a class="code-link" href={href} target="_blank" rel="noreferrer noopener">
          {code}
          <Icon name="out" />
          <span class="hidden-visually"> {t('parts.new-tab')}</span>
        </a>
      )}
      <Copy text={text} what={what} />
    </span>
  );
}

/** A way to copy something whole; there is none without the program. */
export function Copy({ text, what }: { text: string; what: string }): JSX.Element {
  const t = useTexts();
  return (
    <button class="copy needs-program" type="button" data-copy={text} aria-label={t('parts.copy', { what })}>
      <Icon name="copy" />
      <Icon name="check" />
    </button>
  );
}

/** Names beside what they stand for. */
export function Facts({ children }: { children: ComponentChildren }): JSX.Element {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, strong = false, children }: { name: ComponentChildren; strong?: boolean; children: ComponentChildren }): JSX.Element {
  return (
    <div class={strong ? 'fact fact-strong' : 'fact'}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What the merchant stored with it, one card for each kind. */
export function EchoedCards({ echoed }: { echoed: readonly Echoed[] }): JSX.Element {
  const t = useTexts();
  const kinds = [...new Set(echoed.map(({ kind }) => kind))];
  return (
    <>
      {kinds.map((kind) => (
        <section class="card">
          <h2>{t(`parts.echoed-${kind}`)}</h2>
          <Facts>
            {echoed
              .filter((one) => one.kind === kind)
              .map(({ name, value }) => (
                <Fact name={visibleText(name)}>{plain(value)}</Fact>
              ))}
          </Facts>
        </section>
      ))}
    </>
  );
}

/** A JSON value for the eye: a string without its quotes, everything else digit by digit, and nothing that hides or turns what is read. Pure. */
export function plain(value: string): string {
  return visibleText(value.startsWith('"') ? (JSON.parse(value) as string) : value);
}

/** The path of a list with this filter; what is undefined or empty is left out. Pure. */
export function hrefOf(path: string, filter: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(Object.entries(filter).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]]))).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** How many there are, and the way to the rest. */
export function Pager({ path, screen }: { path: string; screen: ListScreen<unknown> }): JSX.Element {
  const t = useTexts();
  const { next, later, filter } = screen;
  return (
    <nav class="pager" aria-label={t('parts.pages')}>
      <p class="hint">{counted(t, screen)}</p>
      {later && (
        <a class="button button-small" href={hrefOf(path, filter)}>
          {t('parts.newest')}
        </a>
      )}
      {next !== null && (
        <a class="button button-small" href={hrefOf(path, { ...filter, after: next })} rel="next">
          {t('parts.older')}
        </a>
      )}
    </nav>
  );
}

/** `20 of 138`. Pure. */
function counted(t: Translate, { items, total, atLeast }: ListScreen<unknown>): string {
  if (total === null) return t('parts.on-page', { count: items.length });
  if (items.length === total && !atLeast) return t('parts.in-all', { count: total });
  return t(atLeast ? 'parts.of-more' : 'parts.of', { count: items.length, total });
}

/** The coin's network, in the words that stand below a name. */
export function OnNetwork({ place, name }: { place: Surroundings; name: string }): JSX.Element {
  return <>{useTexts()('parts.on-network', { network: networkTitle(place, name) })}</>;
}

export interface Column {
  title: string;
  /** Class names of its heading. */
  look?: string;
}

/** Rows below the headings of their columns; `caption` says what they are to whoever does not see them. */
export function Table({ caption, columns, children }: { caption: string; columns: readonly Column[]; children: ComponentChildren }): JSX.Element {
  return (
    <table>
      <caption class="hidden-visually">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, look }) => (
            <th scope="col" class={look}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

interface StatusTabsProps {
  path: string;
  statuses: readonly string[];
  filter: ListScreen<unknown>['filter'];
  /** The field of the query that it is asked by. */
  name?: string;
  /** What people call each; those that are not here are called as everywhere. */
  titles?: Readonly<Record<string, string>>;
}

/** One link for each status, and one for all of them; whatever else was asked for stays. */
export function StatusTabs({ path, statuses, filter, name = 'status', titles = {} }: StatusTabsProps): JSX.Element {
  const t = useTexts();
  return (
    <nav class="tabs" aria-label={t('parts.status')}>
      {[undefined, ...statuses].map((one) => (
        <a href={hrefOf(path, { ...filter, [name]: one })} aria-current={one === filter[name] ? 'page' : undefined}>
          {one === undefined ? t('parts.all') : (titles[one] ?? wordFor(t, 'status', one))}
        </a>
      ))}
    </nav>
  );
}

interface FilterFormProps {
  path: string;
  filter: ListScreen<unknown>['filter'];
  /** Fields of the query that something else on the page asks by; they stay as they are. */
  kept?: readonly string[];
  children: ComponentChildren;
}

/** Everything that a list may be narrowed by; open where it is. */
export function FilterForm({ path, filter, kept = [], children }: FilterFormProps): JSX.Element {
  const t = useTexts();
  return (
    <details class="filters" open={Object.keys(filter).some((name) => !kept.includes(name))}>
      <summary>{t('parts.filter')}</summary>
      <form method="get" action={path}>
        {kept.map((name) => filter[name] !== undefined && <input type="hidden" name={name} value={filter[name]} />)}
        {children}
        <button class="button button-small" type="submit">
          {t('parts.show')}
        </button>
        {Object.keys(filter).length > 0 && (
          <a class="button button-small" href={path}>
            {t('parts.show-all')}
          </a>
        )}
      </form>
    </details>
  );
}

interface FieldProps {
  name: string;
  title: string;
  filter: ListScreen<unknown>['filter'];
}

export function DayField({ name, title, filter }: FieldProps): JSX.Element {
  return (
    <label>
      {title}
      <input type="date" name={name} value={filter[name]?.slice(0, 10)} />
    </label>
  );
}

/** One of several; `options` are the values of the query with what people call them, or `names` that are words in no language. */
export function ChoiceField({
  name,
  title,
  filter,
  options,
  names = false,
}: FieldProps & { options: Readonly<Record<string, string>>; names?: boolean }): JSX.Element {
  const t = useTexts();
  return (
    <label>
      {title}
      <select name={name}>
        <option value="">{t('parts.any')}</option>
        {Object.entries(options).map(([value, text]) => (
          <option value={value} selected={filter[name] === value} lang={names ? 'zxx' : undefined}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function CoinField({ title, filter }: Pick<FieldProps, 'title' | 'filter'>): JSX.Element {
  return (
    <label>
      {title}
      <input name="asset" size={8} maxLength={64} value={filter.asset} placeholder="USDT" />
    </label>
  );
}

/** What a list shows that has nothing to show: the way on where not all was looked through, and back where something was asked for. */
export function NothingLike({ path, screen, title, all }: { path: string; screen: ListScreen<unknown>; title: string; all: string }): JSX.Element {
  const t = useTexts();
  const { filter, next } = screen;
  return next === null ? (
    <section class="card empty">
      <h2>{title}</h2>
      <a class="button" href={path}>
        {all}
      </a>
    </section>
  ) : (
    <section class="card empty">
      <p>{t('parts.none-newest')}</p>
      <a class="button" href={hrefOf(path, { ...filter, after: next })}>
        {t('parts.look-older')}
      </a>
    </section>
  );
}

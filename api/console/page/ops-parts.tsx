import type { JSX } from 'preact';
import type { ListScreen, Surroundings } from './model.ts';
import type { GatewayNames, HistoryLine } from './operator-model.ts';
import { ChoiceField, type Column, DayField, hrefOf, Pager, StatusTabs, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

/** A gateway by its name, or by the beginning of its id where nobody knows that. */
export function OfGateway({ id, names, place }: { id: string | null; names: GatewayNames; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return id === null ? <span class="hint">{t('ops.nobodys')}</span> : <a href={`${place.href}/gateways/${id}`}>{names[id] ?? id.slice(0, 8)}</a>;
}

/** What a list shows that has nothing to show: what that means, the way on where not all was looked through, and back where something was asked for. */
export function Nothing({ title, text, path, screen }: { title: string; text: string; path: string; screen: ListScreen<unknown> }): JSX.Element {
  const t = useTexts();
  const { filter, next, later } = screen;
  const asked = Object.keys(filter).length > 0 || later;
  return (
    <section class="card empty">
      <h2>{asked ? t('ops.nothing-like') : title}</h2>
      <p>{next === null ? text : t('ops.nothing-newest')}</p>
      {next !== null && (
        <a class="button" href={hrefOf(path, { ...filter, after: next })}>
          {t('ops.look-further')}
        </a>
      )}
      {next === null && asked && (
        <a class="button" href={path}>
          {t('ops.show-all')}
        </a>
      )}
    </section>
  );
}

interface ListedProps<Row> {
  screen: ListScreen<Row>;
  path: string;
  caption: string;
  columns: readonly Column[];
  /** What it means that there are no rows, and why that may be. */
  none: string;
  why: string;
  row(one: Row): JSX.Element;
}

/** A page of a list with the ways on from it, or what it means that it has no rows. */
export function Listed<Row>({ screen, path, caption, columns, none, why, row }: ListedProps<Row>): JSX.Element {
  if (screen.items.length === 0) return <Nothing title={none} text={why} path={path} screen={screen} />;
  return (
    <section class="card card-table">
      <Table caption={caption} columns={columns}>
        {screen.items.map(row)}
      </Table>
      <Pager path={path} screen={screen} />
    </section>
  );
}

/** A card that says in a sentence what it means that nothing is there. */
export function Empty({ title, text }: { title: string; text: string }): JSX.Element {
  return (
    <section class="card empty">
      <h2>{title}</h2>
      <p>{text}</p>
    </section>
  );
}

interface TabsProps {
  path: string;
  /** The field of the query, its values and what each is called. */
  name: string;
  titles: Readonly<Record<string, string>>;
  filter: ListScreen<unknown>['filter'];
}

/** One link for each value that has a word, and one for all of them. */
export function WordTabs({ titles, ...props }: TabsProps): JSX.Element {
  return <StatusTabs {...props} statuses={Object.keys(titles)} titles={titles} />;
}

interface FieldProps {
  name: string;
  title: string;
  filter: ListScreen<unknown>['filter'];
}

export function TextField({ name, title, filter }: FieldProps): JSX.Element {
  return (
    <label>
      {title}
      <input name={name} maxLength={255} value={filter[name]} />
    </label>
  );
}

/** What every list of the operator API is gone through by. */
export function WalkFields({ filter, seeks = ['q', 'txHash', 'address'], gateway = true, oldestFirst = false }: WalkFieldsProps): JSX.Element {
  const t = useTexts();
  const titles = { q: t('ops.field.q'), txHash: t('ops.field.tx'), address: t('ops.field.address') };
  return (
    <>
      {seeks.map((name) => (
        <TextField name={name} title={titles[name]} filter={filter} />
      ))}
      {gateway && <TextField name="gatewayId" title={t('ops.field.gateway')} filter={filter} />}
      <DayField name="from" title={t('ops.field.from')} filter={filter} />
      <DayField name="to" title={t('ops.field.to')} filter={filter} />
      <ChoiceField
        name="sort"
        title={t('ops.field.sort')}
        filter={filter}
        options={oldestFirst ? { newest: t('ops.newest-first') } : { oldest: t('ops.oldest-first') }}
      />
    </>
  );
}

interface WalkFieldsProps {
  filter: ListScreen<unknown>['filter'];
  seeks?: readonly ('q' | 'txHash' | 'address')[];
  gateway?: boolean;
  /** Whether that is how the list goes when nobody says. */
  oldestFirst?: boolean;
}

/** What somebody saw when they decided, name by name; nested values as JSON. Pure. */
export function factsIn(facts: HistoryLine['facts']): { name: string; value: string }[] {
  return Object.entries(facts).map(([name, value]) => ({ name, value: typeof value === 'string' ? value : JSON.stringify(value) }));
}

import { invalid, ServiceError } from '#shared/core/errors.ts';

/** How a setting is written in a form; everything is text there, and the empty text is null. */
type Kind = 'text' | 'flag' | 'minutes' | 'count';

/** A setting that a form writes. */
export interface WrittenSetting {
  /** Where it is in a gateway, and in a change of it by the operator API. */
  path: readonly [string, string] | readonly [string];
  kind: Kind;
}

/** Of settings by their names: what whoever asks saw, and what each is to be. */
export type WrittenChange<Name extends string> = Readonly<Partial<Record<Name, readonly [from: string, to: string]>>>;

/** A setting as a form writes it. Pure. */
export function writeSetting(gateway: object, { path: [first, second], kind }: WrittenSetting): string {
  const outer = (gateway as Record<string, unknown>)[first];
  const value = second === undefined ? outer : (outer as Record<string, unknown> | null | undefined)?.[second];
  if (value === null || value === undefined) return '';
  return kind === 'minutes' ? String(Number(value) / 60) : String(value);
}

/** A change as the operator API takes it. Pure. @throws validation_error naming the setting */
export function patchOfWritten<Name extends string>(settings: Readonly<Record<Name, WrittenSetting>>, change: WrittenChange<Name>): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(settings) as Name[]) {
    const pair = change[name];
    if (pair === undefined) continue;
    const { path, kind } = settings[name];
    const value = read(name, kind, pair[1]);
    const [first, second] = path as readonly [string, string?];
    if (second === undefined) patch[first] = value;
    else patch[first] = { ...(patch[first] as object | undefined), [second]: value };
  }
  return patch;
}

/** @throws conflict naming what is there now, where that is not what whoever asks saw */
export function refuseMoved<Name extends string>(now: Readonly<Record<Name, string>>, change: WrittenChange<Name>): void {
  for (const [name, pair] of Object.entries(change) as [Name, readonly [string, string]][])
    if (now[name] !== pair[0])
      throw new ServiceError('conflict', { message: `Somebody changed ${name} meanwhile: it is "${now[name]}" now, and was "${pair[0]}". Nothing was saved.` });
}

/** A change in the words that a person agrees to, and the record keeps. Pure. */
export function changeInWords(change: WrittenChange<string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(change).flatMap(([name, pair]) => (pair === undefined ? [] : [[`${name} before`, pair[0]] as const, [name, pair[1]] as const])),
  );
}

function read(name: string, kind: Kind, text: string): unknown {
  if (text === '') return null;
  if (kind === 'flag') {
    if (text !== 'true' && text !== 'false') throw invalid(name, 'must be true or false');
    return text === 'true';
  }
  if (kind === 'text') return text;
  if (kind === 'count') {
    if (!/^\d{1,15}$/.test(text)) throw invalid(name, 'must be a whole number');
    return Number(text);
  }
  if (!/^\d{1,6}(\.\d{1,17})?$/.test(text)) throw invalid(name, 'must be a number of minutes');
  return Math.round(Number(text) * 60);
}

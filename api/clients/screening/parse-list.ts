/** What a sanctions list holds, as far as it concerns the chains of this deployment. */
export interface ParsedList {
  /** Canonical. */
  addresses: Set<string>;
  /** Addresses of chains that this deployment does not know. */
  foreign: number;
  /** Lines, or items counted from 1, that hold no address: somebody may have mistyped one. */
  malformed: { line: number; text: string }[];
}

/** Reads an address of any family of this deployment; undefined when it is none. */
export type Canonical = (text: string) => string | undefined;

/** As the US Treasury writes them into the remarks of its list: `Digital Currency Address - XBT 12QtD5…;`. */
const REMARK = /Digital Currency Address\s*-\s*[A-Z0-9]+\s+([A-Za-z0-9:]+)/g;
const COMMENT = /^\s*(#|\/\/|;|$)/;
const SHOWN = 60;

/**
 * Reads a sanctions list in any of the forms it is published in: an address per line with `#` comments, CSV (the column named
 * `address`, else every field), the remarks of the Treasury's list, or JSON (an array of addresses or of objects with an
 * `address`, or such an array under `addresses`).
 */
export function parseSanctionsList(text: string, canonical: Canonical): ParsedList {
  const list: ParsedList = { addresses: new Set(), foreign: 0, malformed: [] };
  for (const { line, entry, fields } of entriesOf(text)) {
    const known = fields.map((field) => canonicalOf(field, canonical)).filter((address) => address !== undefined);
    if (known.length > 0) for (const address of known) list.addresses.add(address);
    else if (fields.some(isForeign)) list.foreign += 1;
    else list.malformed.push({ line, text: entry.slice(0, SHOWN).replace(/\p{Cc}/gu, ' ') });
  }
  return list;
}

interface Entry {
  line: number;
  entry: string;
  /** What may be an address in it. */
  fields: string[];
}

function entriesOf(text: string): Entry[] {
  const json = jsonOf(text);
  if (json !== undefined) return json.map((item, index) => ({ line: index + 1, entry: JSON.stringify(item) ?? '', fields: fieldsOf(item) }));
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const header = splitRow(lines[0] ?? '').map((field) => field.toLowerCase());
  const column = header.indexOf('address');
  return lines.flatMap((entry, index) => {
    if (COMMENT.test(entry) || (column >= 0 && index === 0)) return [];
    const remarks = [...entry.matchAll(REMARK)].map((match) => match[1] as string);
    const row = splitRow(entry);
    const fields = remarks.length > 0 ? remarks : column >= 0 ? [row[column] ?? ''] : row.flatMap((field) => field.split(/\s+/));
    return [{ line: index + 1, entry, fields }];
  });
}

/** Items of a JSON list; undefined for what is not JSON. */
function jsonOf(text: string): unknown[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const document: unknown = JSON.parse(text);
    const items = Array.isArray(document) ? document : (document as { addresses?: unknown }).addresses;
    return Array.isArray(items) ? items : [document];
  } catch {
    return undefined;
  }
}

function fieldsOf(item: unknown): string[] {
  const address = typeof item === 'object' && item !== null ? (item as { address?: unknown }).address : item;
  return typeof address === 'string' ? [address.trim()] : [];
}

/** The fields of a CSV row; a quoted one may hold commas. */
function splitRow(row: string): string[] {
  return [...row.matchAll(/"((?:[^"]|"")*)"|[^,;\t]+/g)].map((match) => (match[1] ?? match[0]).trim());
}

function canonicalOf(field: string, canonical: Canonical): string | undefined {
  // Lists are copied by hand: a checksum that is wrong must not free an address.
  return canonical(field) ?? (/^0x[0-9a-f]{40}$/i.test(field) ? canonical(field.toLowerCase()) : undefined);
}

/** Looks like an address, and not like a mistyped one of EVM or TRON. */
function isForeign(field: string): boolean {
  return /^[A-Za-z0-9:_-]{24,130}$/.test(field) && !/^0x/i.test(field) && !/^T[A-Za-z0-9]{33}$/.test(field);
}

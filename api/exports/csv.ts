import { SentJson, withSent } from '#shared/core/sent-json.ts';

/** What a row of an export has, by the name of its column. */
export type ExportRow = Readonly<Record<string, unknown>>;

const NUMBER = /^-?\d+(\.\d+)?$/;
/** What spreadsheets take for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
/** The same within a text, behind what a spreadsheet may part columns or rows by: many take semicolons, and quotes in the middle of a column as they are. */
const INNER_FORMULA = /(?<=[;|\t\r\n])(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** The first line of a CSV file. Pure. */
export function csvHead(columns: readonly string[]): string {
  return `${columns.join(',')}\r\n`;
}

/** One line of a CSV file (RFC 4180) that no spreadsheet takes for a formula. Pure. */
export function csvLine(columns: readonly string[], row: ExportRow): string {
  return `${columns.map((column) => cell(row[column])).join(',')}\r\n`;
}

/** One line of a file of JSON lines; a column without a value is null. Pure. */
export function jsonLine(columns: readonly string[], row: ExportRow): string {
  return `${withSent(JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column] ?? null]))))}\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = value instanceof SentJson ? value.text : String(value);
  // Numbers stay numbers, also negative ones: they can be added up, and are no formula.
  const guarded = (!NUMBER.test(text) && FORMULA.test(text) ? `'${text}` : text).replace(INNER_FORMULA, "'");
  return /[",;\t\r\n]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

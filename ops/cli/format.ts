export type Cell = string | number | boolean | null | undefined;

/** Rows as aligned columns under a header; `none` when there are no rows. */
export function table(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return 'none';
  const lines = [header, ...rows].map((row) => row.map(show));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values, one per line, values aligned; null and undefined ones are left out. */
export function facts(pairs: Readonly<Record<string, Cell>>): string {
  const shown = Object.entries(pairs).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${show(value)}`).join('\n');
}

function show(value: Cell): string {
  if (value === null || value === undefined) return '-';
  // A control character in somebody's text must not steer the terminal.
  return [...String(value)].map((character) => ((character.codePointAt(0) ?? 0) < 32 || character === '\u007f' ? ' ' : character)).join('');
}

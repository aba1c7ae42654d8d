/**
 * The language as `Intl` should take it: Latin digits and the Gregorian calendar wherever it is spoken, so that a page never
 * shows two kinds of digits beside each other (ux 3: crypto amounts are always in Latin ones).
 */
export function formatLocale(tag: string): string {
  return new Intl.Locale(tag, { numberingSystem: 'latn', calendar: 'gregory' }).toString();
}

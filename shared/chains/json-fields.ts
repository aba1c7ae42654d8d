import { CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfValue, isKey, OPEN_OBJECT } from './json-bytes.ts';

/** Finds where the values of some fields of one object after the other are, without making anything of them. */
export interface FieldFinder<F extends string> {
  /** Looks through the object that begins at `from`; answers the place after it, or DOUBT, also when it is none or one of the fields is told twice. */
  find(bytes: Uint8Array, from: number): number;
  /** Where the value of a field of that object begins; 0 is nowhere. */
  begin(field: F): number;
  /** The place after it, where it is anywhere. */
  end(field: F): number;
  forget(): void;
}

/** A finder of these fields; of values that are objects themselves, those that are `inside` look for theirs. */
export function findFields<F extends string>(fields: readonly F[], inside: Partial<Record<F, FieldFinder<string>>> = {}): FieldFinder<F> {
  const [begins, ends] = [new Int32Array(fields.length), new Int32Array(fields.length)];
  const places = Object.fromEntries(fields.map((field, place) => [field, place])) as Record<F, number>;
  const inner = fields.map((field) => inside[field]);
  const keys = fields.map((field) => Buffer.from(field));
  const longest = Math.max(...fields.map(({ length }) => length));
  const byLength = Array.from({ length: longest + 1 }, (_, length) => [...keys.keys()].filter((place) => keys[place]?.length === length));
  const placeOf = (bytes: Uint8Array, at: number, value: number): number => {
    const length = value - at - 3;
    if (length > longest) return -1;
    for (const place of byLength[length] as number[]) if (isKey(bytes, at, value, keys[place] as Buffer)) return place;
    return -1;
  };
  const forget = (): void => {
    begins.fill(0);
    for (const one of inner) one?.forget();
  };
  return {
    begin: (field) => begins[places[field]] as number,
    end: (field) => ends[places[field]] as number,
    forget,
    find(bytes, from) {
      forget();
      if (bytes[from] !== OPEN_OBJECT) return DOUBT;
      if (bytes[from + 1] === CLOSE_OBJECT) return from + 2;
      for (let at = from + 1; ; ) {
        const value = endOfKey(bytes, at);
        if (value === DOUBT) return DOUBT;
        const place = placeOf(bytes, at, value);
        const finder = place < 0 || bytes[value] !== OPEN_OBJECT ? undefined : inner[place];
        if (place >= 0 && begins[place] !== 0) return DOUBT;
        const end = finder === undefined ? endOfValue(bytes, value) : finder.find(bytes, value);
        if (end === DOUBT) return DOUBT;
        if (place >= 0) {
          begins[place] = value;
          ends[place] = end;
        }
        if (bytes[end] !== COMMA) return bytes[end] === CLOSE_OBJECT ? end + 1 : DOUBT;
        at = end + 1;
      }
    },
  };
}

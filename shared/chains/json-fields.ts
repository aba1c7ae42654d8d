import { CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfValue, isKey, OPEN_OBJECT } from './json-bytes.ts';

/** Searches one value after another, and keeps what it found in the last one. */
export interface Finder {
  /** The opening character of the values that it can search. */
  readonly opens: number;
  /** Searches the value that begins at `from`; returns the place after it, or DOUBT. */
  find(bytes: Uint8Array, from: number): number;
  forget(): void;
}

/**
 * Finds where the values of some fields of an object are, without parsing them. Returns DOUBT for anything that is not an object, and when one of
 * the fields occurs twice.
 */
export interface FieldFinder<F extends string> extends Finder {
  /** Where the field's value begins; 0 when the object does not have the field. */
  begin(field: F): number;
  /** The place after the field's value, if the object has the field. */
  end(field: F): number;
  /** Whether that object has any other field. */
  hasOthers(): boolean;
}

/** Makes a finder of these fields. A field's value that is itself an object or a list is searched by its finder in `inside`. */
export function findFields<F extends string>(fields: readonly F[], inside: Partial<Record<F, Finder>> = {}): FieldFinder<F> {
  const [begins, ends] = [new Int32Array(fields.length), new Int32Array(fields.length)];
  const places = Object.fromEntries(fields.map((field, place) => [field, place])) as Record<F, number>;
  const inner = fields.map((field) => inside[field]);
  let others = false;
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
    others = false;
    for (const one of inner) one?.forget();
  };
  return {
    begin: (field) => begins[places[field]] as number,
    end: (field) => ends[places[field]] as number,
    hasOthers: () => others,
    opens: OPEN_OBJECT,
    forget,
    find(bytes, from) {
      forget();
      if (bytes[from] !== OPEN_OBJECT) return DOUBT;
      if (bytes[from + 1] === CLOSE_OBJECT) return from + 2;
      for (let at = from + 1; ; ) {
        const value = endOfKey(bytes, at);
        if (value === DOUBT) return DOUBT;
        const place = placeOf(bytes, at, value);
        const finder = place < 0 ? undefined : inner[place];
        if (place >= 0 && begins[place] !== 0) return DOUBT;
        const end = finder === undefined || finder.opens !== bytes[value] ? endOfValue(bytes, value) : finder.find(bytes, value);
        if (end === DOUBT) return DOUBT;
        if (place < 0) others = true;
        else {
          begins[place] = value;
          ends[place] = end;
        }
        if (bytes[end] !== COMMA) return bytes[end] === CLOSE_OBJECT ? end + 1 : DOUBT;
        at = end + 1;
      }
    },
  };
}

/** What a cell of the state holds; JSON-safe apart from bigint. */
export type Value = bigint | string | boolean | null | Value[] | { [key: string]: Value };

/** The whole state of the chain: named cells. An absent cell was never written. */
export interface Cells {
  get(key: string): Value | undefined;
  set(key: string, value: Value | undefined): void;
}

/** What cells held before a change; putting it back undoes the change. */
export type Before = Map<string, Value | undefined>;

export interface Layer extends Cells {
  /** What was written here. */
  writes(): Before;
  /** Writes everything into the cells below and tells what they held before. */
  apply(): Before;
}

/** Cells over a map. */
export function cellsOf(map: Map<string, Value>): Cells {
  return {
    get: (key) => map.get(key),
    set: (key, value) => {
      if (value === undefined) map.delete(key);
      else map.set(key, value);
    },
  };
}

/** A sheet over other cells: reads through, keeps what is written until it is applied or forgotten. */
export function layer(below: Cells): Layer {
  const written: Before = new Map();
  return {
    get: (key) => (written.has(key) ? written.get(key) : below.get(key)),
    set: (key, value) => {
      written.set(key, value);
    },
    writes: () => written,
    apply: () => {
      const before: Before = new Map();
      for (const [key, value] of written) {
        before.set(key, below.get(key));
        below.set(key, value);
      }
      return before;
    },
  };
}

/** Puts back what cells held before. */
export function undo(cells: Cells, before: Before): void {
  for (const [key, value] of before) cells.set(key, value);
}

/** Reads a number cell; zero when absent. */
export function amount(cells: Cells, key: string): bigint {
  const value = cells.get(key);
  return typeof value === 'bigint' ? value : 0n;
}

/** What a tab remembers of a payment over reloads and changes of language. */
export interface TabMemory {
  has(fact: string): boolean;
  add(fact: string): void;
  forget(fact: string): void;
}

/** Keeps facts in `storage`; in this page alone where a browser keeps nothing for sites. */
export function tabMemory(storage: () => Pick<Storage, 'getItem' | 'setItem'>, paymentId: string): TabMemory {
  const key = `sluice:${paymentId}`;
  const facts = new Set<string>();
  try {
    for (const fact of storage().getItem(key)?.split(' ') ?? []) facts.add(fact);
  } catch {
    // Storage may be forbidden; this page goes without.
  }
  const keep = (): void => {
    try {
      storage().setItem(key, [...facts].join(' '));
    } catch {
      // As above; it may be full as well.
    }
  };
  return {
    has: (fact) => facts.has(fact),
    add: (fact) => {
      facts.add(fact);
      keep();
    },
    forget: (fact) => {
      facts.delete(fact);
      keep();
    },
  };
}

/**
 * Waits for both of what was begun together, also where one fails, and then throws what the first of them failed with. For work in one transaction: what still ran
 * while the other's failure was told would go on behind the transaction's end.
 */
export async function bothEnded<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return [first.value, second.value];
}

/** The same of any number that are alike. */
export async function allEnded<T>(begun: readonly Promise<T>[]): Promise<T[]> {
  return (await Promise.allSettled(begun)).map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

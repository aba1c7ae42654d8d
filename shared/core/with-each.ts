/**
 * Does something with each of them, one after the other, and answers what that adds up to. What nobody foresaw of one keeps it from being done with no other: it is told, and the
 * first of such failures is thrown once all are through.
 */
export async function withEach<One>(all: Iterable<One>, work: (one: One) => Promise<number>, tell: (error: unknown, one: One) => void): Promise<number> {
  let done = 0;
  const failed: unknown[] = [];
  for (const one of all) {
    try {
      done += await work(one);
    } catch (error) {
      tell(error, one);
      failed.push(error);
    }
  }
  if (failed.length > 0) throw failed[0];
  return done;
}

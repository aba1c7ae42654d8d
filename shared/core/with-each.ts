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

/**
 * The same side by side, for what waits for others: whoever is slow with one of them keeps none of the others waiting. The first failure of them, in their order, is thrown once all
 * have ended.
 */
export async function withEachAtOnce<One>(all: Iterable<One>, work: (one: One) => Promise<number>, tell: (error: unknown, one: One) => void): Promise<number> {
  const ended = await Promise.allSettled(
    Array.from(all, async (one) => {
      try {
        return await work(one);
      } catch (error) {
        tell(error, one);
        throw error;
      }
    }),
  );
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return ended.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0);
}

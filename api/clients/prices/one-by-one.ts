import { PriceSourceError } from './provider.ts';

/**
 * Asks for all names at once, and one by one when the source refuses the lot because it no longer knows one of them: a
 * delisted coin must not take the others' prices away. What has been answered is kept when the source tires of the asking.
 * @throws PriceSourceError when the lot failed for another reason, or nothing was answered
 */
export async function allOrOneByOne<T>(
  names: readonly string[],
  ask: (names: readonly string[]) => Promise<T[]>,
  refused: (error: PriceSourceError) => boolean,
): Promise<T[]> {
  try {
    return await ask(names);
  } catch (error) {
    if (!(error instanceof PriceSourceError) || !refused(error) || names.length < 2) throw error;
    const answers: T[][] = [];
    for (const name of names) {
      try {
        answers.push(await ask([name]));
      } catch (single) {
        if (!(single instanceof PriceSourceError)) throw single;
        if (refused(single)) continue;
        if (answers.length === 0) throw single;
        break;
      }
    }
    if (answers.length === 0) throw error;
    return answers.flat();
  }
}

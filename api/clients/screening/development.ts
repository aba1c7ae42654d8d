import { listScreeningScores } from '#api/store/screenings.ts';
import type { Database } from '#shared/platform/postgres.ts';
import type { ScreeningAnswer, ScreeningProvider, ScreeningQuestion } from './provider.ts';

/**
 * A source for development: it says what the operator set for an address, 0 where nothing was set, and is down where that
 * was set. A deposit is judged by the worst of its senders and the address it arrived at. `canonical` reads an address in
 * the form people know.
 */
export function developmentScores(db: Database, canonical: (address: string) => string): ScreeningProvider {
  return {
    name: 'development',
    capabilities: { score: true, async: false, idempotent: true, networks: null },
    async ask(question): Promise<ScreeningAnswer> {
      const set = await listScreeningScores(db.sql, addressesOf(question).map(canonical));
      const scores = set.flatMap(({ score }) => (score === null ? [] : [score]));
      if (scores.length < set.length) return { outcome: 'unavailable', problem: 'set to be unavailable' };
      const score = Math.max(0, ...scores);
      return { outcome: 'verdict', score, sanctioned: false, categories: score === 0 ? [] : ['development'], ref: null };
    },
    poll: async () => ({ outcome: 'unavailable', problem: 'nothing is ever pending here' }),
  };
}

function addressesOf(question: ScreeningQuestion): string[] {
  return question.direction === 'withdrawal' ? [question.address] : [...question.senders, question.recipient];
}

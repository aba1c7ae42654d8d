import { describe, expect, it } from 'vitest';
import { CATALOGUE, type Entry, NOT_YET } from './catalogue.ts';
import { generalCases } from './common-cases.ts';
import { aContext } from './context.ts';

/** What is answered before it is found that the operation is not there; the rest needs the operation itself. */
function answeredBefore({ scheme }: Entry): number[] {
  return [400, 413, 415, 422, 429, 500, ...(scheme === null ? [] : [401, 403, 503])];
}

const waiting = CATALOGUE.filter(({ id }) => NOT_YET.includes(id));

describe.each(waiting.map((entry) => [entry.id, entry] as const))('%s', (_id, entry) => {
  const context = aContext(entry);
  const before = answeredBefore(entry);
  for (const [status, register] of Object.entries(generalCases(context)).filter(([one]) => before.includes(Number(one)))) describe(status, register);

  describe('501', () => {
    it('is not available yet', async () => {
      const { status, error } = await context.send(await context.example());
      expect([status, error.code]).toEqual([501, 'not_implemented']);
    });
  });
});

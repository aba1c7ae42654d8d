import { expect, it } from 'vitest';
import { eachEntry } from '#api/consumers/each-entry.ts';
import type { StreamEntry, Streams } from '#shared/platform/redis-streams.ts';

/** A stream that has these batches, one a read, and then nothing for ever; `said` is what happened. */
function aStream(batches: StreamEntry[][]): { streams: Streams; said: string[] } {
  const said: string[] = [];
  let closed: () => void = () => undefined;
  const reader = {
    read: () => {
      said.push('read');
      const batch = batches.shift();
      return batch === undefined ? new Promise<StreamEntry[]>((resolve) => (closed = () => resolve([]))) : Promise.resolve(batch);
    },
    close: async () => {
      said.push('closed');
      closed();
    },
  };
  return { streams: { reader: () => reader } as unknown as Streams, said };
}

const entry = (id: string): StreamEntry => ({ id, forged: false, payload: id });

it('waits for no entry any more once it is told to stop', async () => {
  const { streams, said } = aStream([[entry('1')]]);
  const stopping = new AbortController();
  const consumed: string[] = [];
  const over = eachEntry(streams, 's', async ({ id }) => void consumed.push(id), stopping.signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect([consumed, said]).toEqual([['1'], ['read', 'read']]);
  stopping.abort();
  await over;
  expect(said.slice(2)).toEqual(['closed', 'closed']);
});

it('finishes the entry in hand before it closes, and begins no other', async () => {
  const { streams, said } = aStream([[entry('1'), entry('2')]]);
  const stopping = new AbortController();
  const consume = async ({ id }: StreamEntry): Promise<void> => {
    stopping.abort();
    await new Promise((resolve) => setImmediate(resolve));
    said.push(`consumed ${id}`);
  };
  await eachEntry(streams, 's', consume, stopping.signal);
  expect(said).toEqual(['read', 'consumed 1', 'closed']);
});

import { expect, it } from 'vitest';
import { type Drawing, openDrawing } from '#api/docs/drawing.ts';

/** A thread of a few lines: it tells that there are /docs and /docs/slow, and answers with how many questions it had; `act` may do something else first. */
const program = (act: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from 'node:worker_threads';
      let heard = 0;
      parentPort.postMessage({ addresses: ['/docs', '/docs/crash', '/docs/hang'] });
      parentPort.on('message', ({ id, path, question }) => {
        heard += 1;
        ${act}
        parentPort.postMessage({ id, drawn: { type: 'text/plain', text: String(heard) } });
      });`)}`,
  );

const BREAKING = program(`if (path === '/docs/crash') throw new Error('broken'); if (path === '/docs/hang') for (;;);`);
const textOf = async (drawing: Drawing, path: string, question?: string) => (await drawing.ask(path, question))?.text;
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

it('draws a page once, however many ask for it at once', async () => {
  const drawing = openDrawing(program(''), null);
  const texts = await Promise.all(Array.from({ length: 1_000 }, () => textOf(drawing, '/docs')));
  expect(new Set(texts)).toEqual(new Set(['1']));
});

it('asks the thread nothing about what is nowhere, once it told where anything is', async () => {
  const drawing = openDrawing(program(''), null);
  await drawing.ask('/docs');
  for (let at = 0; at < 10_000; at++) expect(await drawing.ask(`/docs/none-${at}`)).toBeNull();
  expect(await textOf(drawing, '/docs/search', 'what')).toBe('2');
});

it('has so many questions waiting and no more, whatever is asked before it knows what there is', async () => {
  const drawing = openDrawing(program(''), null, { most: 50 });
  const codes = await Promise.all(Array.from({ length: 500 }, (_, at) => codeOf(drawing.ask(`/docs/none-${at}`))));
  expect(codes.filter((code) => code === 'done')).toHaveLength(50);
  expect(codes.filter((code) => code === 'service_unavailable')).toHaveLength(450);
  expect(await textOf(drawing, '/docs')).toBe('51');
});

it('is ended when it is stuck, with an answer to everybody who waits, and begins anew', async () => {
  const drawing = openDrawing(BREAKING, null, { stuckMs: 5_000, restMs: 0 });
  expect(await textOf(drawing, '/docs')).toBe('1');
  const waiting = [drawing.ask('/docs/hang'), drawing.ask('/docs'), drawing.ask('/docs/search', 'what')];
  expect(await Promise.all(waiting.map(codeOf))).toEqual(Array(3).fill('service_unavailable'));
  await expect.poll(() => textOf(drawing, '/docs').catch(() => undefined)).toBe('1');
});

it('has longer for its first answer than for any later one', async () => {
  const drawing = openDrawing(program('const until = Date.now() + (heard === 1 ? 500 : 0); while (Date.now() < until);'), null, { stuckMs: 50 });
  expect(await textOf(drawing, '/docs')).toBe('1');
});

it('that breaks fails those who wait, and is not started again for each of the next', async () => {
  const drawing = openDrawing(BREAKING, null, { restMs: 60_000 });
  expect(await codeOf(drawing.ask('/docs/crash'))).toBe('service_unavailable');
  const started = performance.now();
  const codes = await Promise.all(Array.from({ length: 1_000 }, () => codeOf(drawing.ask('/docs'))));
  expect(new Set(codes)).toEqual(new Set(['service_unavailable']));
  expect(performance.now() - started, 'no thread was begun').toBeLessThan(1_000);
});

it('ends without a question, and answers the next one all the same', async () => {
  const drawing = openDrawing(program(''), null, { idleMs: 1 });
  expect(await textOf(drawing, '/docs')).toBe('1');
  await expect.poll(() => textOf(drawing, '/docs'), { interval: 50 }).toBe('1');
});

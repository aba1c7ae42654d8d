import { parentPort, workerData } from 'node:worker_threads';
import { type DrawnFrom, openDraughtsman } from './draw.ts';
import type { Asked } from './drawing.ts';

// A thread of its own: parsing Markdown, colouring code and indexing take seconds together, which nobody who pays should wait for.

const draughtsman = openDraughtsman(workerData as DrawnFrom);

parentPort?.on('message', ({ id, path, question }: Asked) => {
  void (async () => (question === undefined ? draughtsman.draw(path) : draughtsman.results(question)))().then(
    (drawn) => parentPort?.postMessage({ id, drawn }),
    (error: unknown) => parentPort?.postMessage({ id, problem: error instanceof Error ? error.message : String(error) }),
  );
});

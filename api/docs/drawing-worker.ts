import { parentPort, workerData } from 'node:worker_threads';
import { type DrawnFrom, openDraughtsman } from './draw.ts';
import type { Asked, Told } from './drawing.ts';

// A thread of its own: parsing Markdown, colouring code and indexing take seconds together, which nobody who pays should wait for.

const draughtsman = openDraughtsman(workerData as DrawnFrom);
const tell = (told: Told): void => parentPort?.postMessage(told);

tell({ addresses: draughtsman.addresses });
parentPort?.on('message', ({ id, path, question }: Asked) => {
  void (async () => (question === undefined ? draughtsman.draw(path) : draughtsman.results(question)))().then(
    (drawn) => tell({ id, drawn }),
    (error: unknown) => tell({ id, problem: error instanceof Error ? error.message : String(error) }),
  );
});

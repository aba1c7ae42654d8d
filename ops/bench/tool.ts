import { createInterface } from 'node:readline';

/** Answers the questions a stage asks this process, one line of JSON each, until there are no more. */
export function answerLines(answer: (question: never) => Promise<object>): void {
  let turn = Promise.resolve();
  createInterface({ input: process.stdin }).on('line', (line) => {
    turn = turn.then(async () => {
      process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line) as never))}\n`);
    });
    turn.catch((error: unknown) => {
      process.stderr.write(`${(error as Error).stack}\n`);
      process.exit(1);
    });
  });
  process.stdin.once('end', () => process.exit(0));
}

/** A screen reader says nothing when a region is filled with what it holds already; it needs a moment of emptiness. */
const EMPTY_MS = 100;
/** How long a text has to be there for a screen reader to take it up, before the next one may follow. */
const TAKEN_UP_MS = 300;
/** After this a text is gone again: whoever reads the page line by line must not find old news. */
const KEPT_MS = 7_000;

/** Gives what says something in the page's polite region, each time it is called, also the same again; several things in their order. */
export function speech(after: (ms: number, run: () => void) => () => void, show: (spoken: string) => void): (text: string) => void {
  const waiting: string[] = [];
  let isSpeaking = false;
  let cancel = (): void => {};

  function sayNext(): void {
    const text = waiting.shift();
    isSpeaking = text !== undefined;
    if (text === undefined) {
      cancel = after(KEPT_MS, () => show(''));
      return;
    }
    cancel();
    show('');
    after(EMPTY_MS, () => {
      show(text);
      after(TAKEN_UP_MS, sayNext);
    });
  }

  return (text) => {
    waiting.push(text);
    if (!isSpeaking) sayNext();
  };
}

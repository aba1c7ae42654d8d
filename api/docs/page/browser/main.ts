// What a script adds to the documentation; every page reads the same without it. It keeps one thing, the language last
// chosen, in this browser, and sends nothing anywhere.

import { followReader } from './follow-reader.ts';
import { openSearchBox } from './open-search-box.ts';

document.documentElement.dataset.program = '';

const CHOICE = 'sluice-docs-language';
/** Where the examples say the API is; a reader sees the one that shows this page. */
const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000';

for (const code of document.querySelectorAll('.code code')) replaceOrigin(code);
for (const block of document.querySelectorAll<HTMLElement>('.code')) addCopyButton(block);
for (const input of document.querySelectorAll<HTMLInputElement>('.languages > input'))
  input.addEventListener('change', () => {
    remember(input.value);
    choose(input.value);
  });
choose(remembered());
openSearchBox();
for (const place of document.querySelectorAll<HTMLElement>('.try')) openWhenAsked(place);
followReader();

/** Loads what sends an operation once somebody is about to; a link to the form opens it. */
function openWhenAsked(place: HTMLElement): void {
  const { program } = place.dataset;
  if (program === undefined || !(place instanceof HTMLDetailsElement)) return;
  place.addEventListener('toggle', () => void import(program).then(({ openTry }: { openTry(place: HTMLElement): void }) => openTry(place)), { once: true });
  const follow = (): void => {
    if (location.hash === `#${place.id}`) place.open = true;
  };
  addEventListener('hashchange', follow);
  follow();
}

/** In place, so that colours stay. */
function replaceOrigin(code: Element): void {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    if (text.nodeValue?.includes(EXAMPLE_ORIGIN)) text.nodeValue = text.nodeValue.replaceAll(EXAMPLE_ORIGIN, location.origin);
}

function addCopyButton(block: HTMLElement): void {
  // Where the page is not secure the browser has none.
  if ((navigator.clipboard as Clipboard | undefined) === undefined) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '').then(() => {
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2_000);
    });
  });
  block.append(button);
}

/** Shows one language in every group that has it. */
function choose(language: string | null): void {
  for (const group of document.querySelectorAll('.languages')) {
    const input = [...group.querySelectorAll('input')].find(({ value }) => value === language);
    if (input !== undefined) input.checked = true;
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

function remember(language: string): void {
  try {
    localStorage.setItem(CHOICE, language);
  } catch {
    // A browser that keeps nothing shows the first language of each group.
  }
}

import type { Hit } from '../finding.ts';

type Search = (question: string) => Hit[];

/**
 * Finds as one types: `/` leads to the box, the arrows to a page, Enter opens it. What searches is loaded when the box is entered. Until
 * it is there, or when it cannot come, the form asks the server for a page of results.
 */
export function openSearchBox(): void {
  const place = document.querySelector<HTMLElement>('.search');
  const input = place?.querySelector('input');
  if (place == null || input == null) return;
  const list = document.createElement('ul');
  list.id = 'hits';
  list.className = 'hits';
  list.role = 'listbox';
  list.ariaLabel = 'Found';
  list.hidden = true;
  place.append(list);
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'hits', 'aria-autocomplete': 'list' }))
    input.setAttribute(name, value);

  let search: Promise<Search | null> | undefined;
  let chosen = -1;

  const load = (): Promise<Search | null> => {
    search ??= import(place.dataset.program ?? '')
      .then(({ openSearch }: { openSearch(address: string): Promise<Search> }) => openSearch(place.dataset.index ?? ''))
      .catch(() => null);
    return search;
  };
  const options = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>('[role="option"]')];
  const show = (open: boolean): void => {
    list.hidden = !open;
    input.setAttribute('aria-expanded', String(open));
    if (!open) choose(-1);
  };
  const choose = (at: number): void => {
    chosen = at;
    for (const [position, option] of options().entries()) option.setAttribute('aria-selected', String(position === at));
    const option = options()[at];
    if (option === undefined) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', option.id);
    option?.scrollIntoView({ block: 'nearest' });
  };
  const answer = async (): Promise<void> => {
    const question = input.value.trim();
    const found = (await load())?.(question);
    // Typed on, or left, while the program was on its way.
    if (question !== input.value.trim() || document.activeElement !== input) return;
    if (question === '' || found === undefined) return show(false);
    list.replaceChildren(...(found.length === 0 ? [nothing()] : found.map(asOption)));
    show(true);
    choose(-1);
  };

  input.addEventListener('focus', () => void load());
  input.addEventListener('input', () => void answer());
  input.addEventListener('blur', () => show(false));
  input.addEventListener('keydown', (event) => {
    const { length } = options();
    if (event.key === 'Escape') show(false);
    if (list.hidden || length === 0) return;
    if (event.key === 'ArrowDown') choose(chosen + 1 >= length ? 0 : chosen + 1);
    else if (event.key === 'ArrowUp') choose(chosen <= 0 ? length - 1 : chosen - 1);
    else if (event.key === 'Enter' && chosen >= 0) open(options()[chosen]);
    else return;
    event.preventDefault();
  });
  // Before the box loses its focus.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    if (target instanceof Element) open(target.closest<HTMLElement>('[role="option"]') ?? undefined);
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]') !== null;
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  const open = (option: HTMLElement | undefined): void => {
    if (option?.dataset.href === undefined) return;
    show(false);
    input.blur();
    location.assign(option.dataset.href);
  };
}

function asOption({ title, where, href }: Hit, at: number): HTMLElement {
  const option = document.createElement('li');
  option.id = `hit-${at}`;
  option.role = 'option';
  option.dataset.href = href;
  for (const [name, text] of Object.entries({ 'hit-title': title, 'hit-where': where })) {
    const part = document.createElement('span');
    part.className = name;
    part.textContent = text;
    option.append(part);
  }
  return option;
}

function nothing(): HTMLElement {
  const line = document.createElement('li');
  line.className = 'hits-none';
  line.role = 'option';
  line.ariaDisabled = 'true';
  line.textContent = 'Nothing is called that: try one word of it.';
  return line;
}

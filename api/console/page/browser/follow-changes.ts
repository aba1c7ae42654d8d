/** Without a stream, the page is looked at again this often; with a little chance, so that not all come at once. */
const LOOK_AGAIN_MS = 30_000;
/** Where one is refused first, the page is looked at within this: its reader may not read it any more, or the server has too much to do. */
const LOOK_FIRST_MS = 2_000;
/** Somebody who fills something in is not disturbed; this is how often it is asked whether they are done. */
const BUSY_MS = 3_000;

/**
 * Keeps a page that shows something that changes by itself as it is now. A stream says that it changed, and nothing of what; then the page is read like any other, and its
 * main part takes the place of the one that is shown. Only a tab in front has a stream: a browser keeps few connections to one host.
 */
export function followChanges(equip: (main: HTMLElement) => void): void {
  const main = document.querySelector<HTMLElement>('main[data-follow]');
  if (main === null) return;
  const path = main.dataset.follow ?? '';
  let source: EventSource | undefined;
  let later = 0;
  let newest = main.dataset.mark;
  let reading = false;
  let toldMeanwhile = false;
  let isRefused = false;

  const soon = (milliseconds: number, run: () => void): void => {
    clearTimeout(later);
    later = window.setTimeout(run, milliseconds);
  };
  const lookAgain = (): void => {
    soon(isRefused ? LOOK_AGAIN_MS * (1 + Math.random()) : LOOK_FIRST_MS * Math.random(), () => {
      if (document.hidden) return;
      void refresh(true);
      open();
    });
  };
  const open = (): void => {
    if (source !== undefined || document.hidden) return;
    const stream = new EventSource(path);
    source = stream;
    stream.addEventListener('open', () => {
      isRefused = false;
    });
    stream.addEventListener('message', ({ data }) => {
      newest = String(data);
      toldMeanwhile = reading;
      void refresh(false);
    });
    // Whoever may not read it any more is shown what there is for them now.
    stream.addEventListener('end', () => {
      close();
      location.reload();
    });
    // What breaks off is opened again by the browser; what was refused is not.
    stream.addEventListener('error', () => {
      if (stream.readyState !== EventSource.CLOSED) return;
      close();
      lookAgain();
      isRefused = true;
    });
  };
  const close = (): void => {
    source?.close();
    source = undefined;
  };

  const refresh = async (whatever: boolean): Promise<void> => {
    if (reading || (!whatever && newest === main.dataset.mark)) return;
    if (isBusy(main)) return soon(BUSY_MS, () => void refresh(whatever));
    reading = true;
    try {
      const fresh = await readPage(location.href);
      const drawn = fresh?.querySelector<HTMLElement>('main[data-follow]');
      if (fresh == null || drawn == null) return;
      if (isBusy(main)) return soon(BUSY_MS, () => void refresh(whatever));
      if (drawn.dataset.mark !== main.dataset.mark) show(main, drawn, equip);
      document.title = fresh.title;
      // What it is now may have been told before it was read; what was told meanwhile may have come too late to be read.
      if (!toldMeanwhile) newest = drawn.dataset.mark;
    } finally {
      reading = false;
      toldMeanwhile = false;
    }
    if (newest !== main.dataset.mark) void refresh(false);
  };

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      clearTimeout(later);
      close();
    } else open();
  });
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', open);
  open();
}

/** Whether somebody is in the middle of something: a field that they filled in or stand in, or a form that is being sent. */
function isBusy(main: HTMLElement): boolean {
  const fields = [...main.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>('input:not([type="hidden"]), select, textarea')];
  const changed = (field: (typeof fields)[number]): boolean => ('defaultValue' in field ? field.value !== field.defaultValue : false);
  return fields.some((field) => field === document.activeElement || changed(field)) || main.querySelector('form button:disabled') !== null;
}

/** Puts what was drawn anew where the old was: what was unfolded stays so, and whoever stands somewhere keeps their place. */
function show(main: HTMLElement, drawn: HTMLElement, equip: (main: HTMLElement) => void): void {
  const unfolded = new Set([...main.querySelectorAll('details[open]')].map(placeOf));
  const focused = main.contains(document.activeElement) ? placeOf(document.activeElement as Element) : undefined;
  main.replaceChildren(...[...drawn.childNodes].map((node) => document.adoptNode(node)));
  main.dataset.mark = drawn.dataset.mark;
  for (const details of main.querySelectorAll('details')) if (unfolded.has(placeOf(details))) details.open = true;
  if (focused !== undefined) [...main.querySelectorAll<HTMLElement>('a, button, summary')].find((one) => placeOf(one) === focused)?.focus();
  equip(main);
  const said = document.querySelector<HTMLElement>('[data-changed]');
  if (said !== null) said.textContent = said.dataset.changed ?? '';
}

/** Where something is, by what stays when more comes behind it: its words and how often they came before. */
function placeOf(element: Element): string {
  const root = element.closest('main');
  const same = [...(root?.querySelectorAll(element.tagName) ?? [])];
  const words = (one: Element): string =>
    `${one.closest('li')?.querySelector('.event-title')?.textContent ?? ''}|${(one.querySelector('summary') ?? one).textContent}`;
  const own = words(element);
  return `${element.tagName}|${own}|${same.filter((one) => words(one) === own).indexOf(element)}`;
}

/** Reads a page as a browser does, without its programs; undefined when it is none now, and gone to where its reader is sent when that is another one. */
function readPage(href: string): Promise<Document | undefined> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', href);
    request.responseType = 'document';
    request.addEventListener('loadend', () => {
      const elsewhere = request.status === 200 && new URL(request.responseURL).pathname !== location.pathname;
      if (elsewhere) location.reload();
      resolve(request.status === 200 && !elsewhere ? (request.responseXML ?? undefined) : undefined);
    });
    request.send();
  });
}

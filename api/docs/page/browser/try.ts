/** Nobody reads more in a page. */
const MOST_SHOWN = 20_000;

/** Makes the form of an operation send it, to the host that serves this page and nowhere else. What is typed is read when it is sent, and kept nowhere. */
export function openTry(place: HTMLElement): void {
  const form = place.querySelector('form');
  const result = form?.querySelector<HTMLElement>('[role="status"]');
  if (form === null || !result) return;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void tell(result, async () => send(await requestOf(place)));
  });
  form.querySelector('[data-only-sign]')?.addEventListener('click', () => {
    if (form.reportValidity()) void tell(result, async () => headersAsText((await requestOf(place)).headers));
  });
  // Until now nothing heard them, and the browser would have sent the form itself.
  for (const button of form.querySelectorAll('button')) button.disabled = false;
}

interface Built {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** The request as it will be sent, signed where there is a secret. */
async function requestOf(place: HTMLElement): Promise<Built> {
  const { method = 'GET', path = '', idempotent } = place.dataset;
  const value = (selector: string): string => place.querySelector<HTMLInputElement | HTMLTextAreaElement>(selector)?.value ?? '';
  const url = new URL(
    path.replaceAll(/\{([^}]+)\}/g, (_all, name: string) => encodeURIComponent(value(`[data-place="path"][data-name="${CSS.escape(name)}"]`))),
    location.origin,
  );
  for (const input of place.querySelectorAll<HTMLInputElement>('[data-place="query"]'))
    if (input.value !== '') url.searchParams.set(input.dataset.name ?? '', input.value);
  const typed = value('[data-body]');
  const body = typed.trim() === '' ? undefined : typed;
  const key = value('[data-proof="key"]').trim();
  const secret = value('[data-proof="secret"]').trim();
  const headers: Record<string, string> = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(key === '' ? {} : { 'X-Api-Key': key }),
    ...(idempotent === undefined ? {} : { 'Idempotency-Key': randomKey() }),
  };
  if (secret !== '') {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    Object.assign(headers, { 'X-Timestamp': timestamp, 'X-Signature': await sign(secret, `${timestamp}.${body ?? ''}`) });
  }
  return { url: url.href, method, headers, body };
}

/** HMAC-SHA256 in hexadecimal, computed by the browser. @throws Error where the page came without TLS, and browsers have no such thing */
async function sign(secret: string, text: string): Promise<string> {
  const { subtle } = globalThis.crypto as Partial<Crypto>;
  if (subtle === undefined) throw new Error('This browser signs only on pages that came by https, or from localhost.');
  const bytes = new TextEncoder();
  const key = await subtle.importKey('raw', bytes.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hex(await subtle.sign('HMAC', key, bytes.encode(text)));
}

function randomKey(): string {
  return hex(crypto.getRandomValues(new Uint8Array(16)).buffer);
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function send({ url, ...request }: Built): Promise<string> {
  const answer = await fetch(url, { ...request, body: request.body ?? null, credentials: 'omit', redirect: 'error', cache: 'no-store' });
  const text = (await answer.text()).slice(0, MOST_SHOWN);
  return `${answer.status} ${answer.statusText}\n${headersAsText({ 'X-Request-Id': answer.headers.get('x-request-id') ?? '' })}\n\n${indented(text)}`;
}

/** Without the key, so that it can be shown to somebody. */
function headersAsText(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${name === 'X-Api-Key' ? '…' : value}`)
    .join('\n');
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** As text: an answer repeats what was sent. */
async function tell(place: HTMLElement, work: () => Promise<string>): Promise<void> {
  const shown = document.createElement('pre');
  shown.className = 'try-answer';
  shown.tabIndex = 0;
  shown.textContent = await work().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  place.replaceChildren(shown);
}

import { POLICY } from '#shared/core/policy.ts';
import { VERSION } from '#shared/platform/version.ts';

/** What came back: parsed JSON, or why there is none in words that hold neither URL nor secret. */
export type Posted = { json: unknown } | { problem: string };

/** POSTs a form: no redirects, at most 1 MB of answer, and only while `signal` lasts. Never throws. */
export async function postForm(url: string, form: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Posted> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal,
      headers: { accept: 'application/json', 'user-agent': `sluice/${VERSION}` },
      body: new URLSearchParams(form),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return { problem: `answered ${response.status}` };
    }
    const text = await readCapped(response);
    return text === undefined ? { problem: 'answered too much' } : parse(text);
  } catch {
    // What the client library says may quote the request, which holds the token.
    return { problem: signal.aborted ? 'no answer in time' : 'not reached' };
  }
}

async function readCapped(response: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > POLICY.screeningAnswerBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): Posted {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return { problem: 'did not answer JSON' };
  }
}

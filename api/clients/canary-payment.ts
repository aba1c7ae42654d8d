/** How long one call may take: far more than it ever should. */
const CALL_MILLISECONDS = 10_000;
/** An amount that every asset can be asked for. */
const AMOUNT = '25';

/** Where the canary pays, and as whom. */
export interface Till {
  /** Base of the merchant contract, as merchants call it: `https://pay.example/api/v1`. */
  baseUrl: string;
  apiKey: string;
}

/**
 * Takes one sandbox payment from its creation through its deposit to its verification, as a merchant would, over HTTP.
 * @throws Error saying which step failed and how; it names no key
 */
export async function payOnce(till: Till, signal: AbortSignal): Promise<void> {
  const call = (method: string, path: string, body?: object): Promise<Record<string, unknown>> => ask(till, { method, path, body }, signal);
  const callbackUrl = `${new URL(till.baseUrl).origin}/`;
  const { paymentUid } = await call('POST', '/payments', { currencyCode: 'USD', amount: AMOUNT, callbackUrl, isSandbox: true });
  if (typeof paymentUid !== 'string') throw new Error('create: the answer names no payment');
  await call('POST', `/public/payments/${paymentUid}/sandbox/simulate`, { scenario: 'success' });
  const { status } = await call('POST', `/payments/${paymentUid}/verify`);
  if (status !== 'SUCCESS') throw new Error(`verify: the payment ${paymentUid} is ${String(status)} and not SUCCESS`);
}

async function ask(
  { baseUrl, apiKey }: Till,
  { method, path, body }: { method: string; path: string; body: object | undefined },
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const step = `${method} ${path.replace(/[0-9a-f-]{36}/, '{paymentId}')}`;
  const headers = { 'x-api-key': apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) };
  let response: Response;
  let text: string;
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(CALL_MILLISECONDS)]);
    response = await fetch(baseUrl + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }), redirect: 'error', signal: deadline });
    text = await response.text();
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(`${step}: ${cause instanceof Error ? cause.message || ((cause as { code?: string }).code ?? message) : message}`);
  }
  const envelope = readEnvelope(text);
  if (response.ok && envelope?.data !== undefined) return envelope.data;
  throw new Error(
    `${step}: ${response.status} ${envelope?.error?.code ?? 'and no envelope'}${envelope?.error === undefined ? '' : `: ${envelope.error.message}`}`,
  );
}

function readEnvelope(text: string): { data?: Record<string, unknown>; error?: { code: string; message: string } } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

import { hostname, userInfo } from 'node:os';
import { call, type CallOptions, operator, type Operator } from '#ops/dev/client.ts';
import { DEV_FILE, type DevFile, instanceDirectory, readDevFile } from '#ops/dev/dev-file.ts';
import { type Context, UnreachableError } from './command.ts';

/**
 * Finds the service: SLUICE_OPERATOR_URL and SLUICE_OPERATOR_TOKEN when both are set, else `.sluice/dev.json` of the
 * working folder or the package's.
 * @throws UnreachableError when neither exists
 */
export async function openContext(env: Record<string, string | undefined>, folder: string): Promise<Context> {
  const dev = await readDevFile(instanceDirectory(env, folder)).catch(() => undefined);
  const operatorUrl = env.SLUICE_OPERATOR_URL ?? dev?.operatorUrl;
  const token = env.SLUICE_OPERATOR_TOKEN ?? dev?.operatorToken;
  if (operatorUrl === undefined || token === undefined)
    throw new UnreachableError(
      `there is no ${DEV_FILE} here or beside the program: run "npm start" first, or set SLUICE_OPERATOR_URL and SLUICE_OPERATOR_TOKEN`,
    );
  const url = operatorUrl.replace(/\/+$/, '');
  const speak = (own: string): Operator => {
    const plain = operator(url, own, whoami());
    return {
      call: (method, path, options) => reachable(url, plain.call(method, path, options)),
      must: (method, path, options) => reachable(url, plain.must(method, path, options)),
    };
  };
  const here = dev !== undefined && dev.operatorUrl === operatorUrl ? dev : undefined;
  return {
    operatorUrl: url,
    baseUrl: here !== undefined ? here.api.baseUrl : url.replace(/\/operator\/v1$/, '/api/v1'),
    dev: here,
    operator: speak(token),
    people: new Map(Object.entries(here?.operatorTokens ?? {}).map(([name, own]) => [name, speak(own)])),
  };
}

/** Who runs the command, for the operator's log; without characters a header cannot hold. */
export function whoami(): string {
  let user = 'unknown';
  try {
    user = userInfo().username;
  } catch {
    // A container may run as a user without a name.
  }
  return `${user}@${hostname()}`.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 120);
}

/** One call to the merchant API's public side, told apart from "nothing answers". */
export async function callApi(context: Context, method: string, path: string, options?: CallOptions): ReturnType<typeof call> {
  return callAt(`${context.baseUrl}${path}`, method, options);
}

/** One call to any part of the service, told apart from "nothing answers". */
export async function callAt(url: string, method: string, options?: CallOptions): ReturnType<typeof call> {
  return reachable(new URL(url).origin, call(url, method, options));
}

/** The hosted page of a payment on the running instance. */
export function pageOf(dev: DevFile, paymentId: string): string {
  return `${dev.checkoutUrl}/p/${paymentId}`;
}

async function reachable<T>(url: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    // fetch says "fetch failed" with a system error as its cause; whatever else went wrong is an answer of the service.
    if (error instanceof TypeError && error.cause !== undefined)
      throw new UnreachableError(`nothing answers at ${url}; is the service running? (npm start)`, { cause: error });
    throw error;
  }
}

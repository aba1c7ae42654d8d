/** What may hold a secret if somebody logs a whole object by mistake. */
export const SECRET_NAMES: ReadonlySet<string> = new Set([
  'secret',
  'apiKey',
  'seed',
  'mnemonic',
  'privateKey',
  'authorization',
  'totpCode',
  'password',
  'databaseUrl',
  'redisUrl',
]);

/** Objects within each other that are looked at; one that holds itself ends there. */
const DEPTH = 4;

/** What stands in a log in place of a secret. */
export const CENSORED = '[redacted]';

/**
 * The same with `[redacted]` for every value that is named like a secret, in it or in what it holds; only what holds such a value is copied. Each line
 * of every log goes through it. Errors, and what writes itself, are left as they are. Pure.
 */
export function censored<T>(logged: T, depth = DEPTH): T {
  if (depth === 0 || !isPlain(logged)) return logged;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(logged)) {
    const value = (logged as Record<string, unknown>)[name];
    const shown = SECRET_NAMES.has(name) ? CENSORED : censored(value, depth - 1);
    if (shown === value) continue;
    copy ??= (Array.isArray(logged) ? [...logged] : { ...logged }) as Record<string, unknown>;
    copy[name] = shown;
  }
  return (copy as T | undefined) ?? logged;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Error) && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}

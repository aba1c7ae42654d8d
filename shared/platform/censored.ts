/** What may hold a secret if somebody logs a whole object by mistake. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
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

/** Objects within each other that are looked at, the line among them; one that holds itself ends there. */
const DEPTH = 4;

/** What stands in a log in place of a secret. */
const CENSORED = '[redacted]';

/** What stands in a log in place of what throws when it is read. */
const UNREADABLE = '[unreadable]';

/**
 * What JSON writes for a value, with `[redacted]` for everything in it that is named like a secret; only what holds such a value is copied. An error is
 * an object like any other, and what writes itself is asked for what it writes. Never throws. Pure.
 */
export function censored(logged: unknown, depth = DEPTH): unknown {
  // Bytes hold no names, and may be many.
  if (depth === 0 || typeof logged !== 'object' || logged === null || ArrayBuffer.isView(logged)) return logged;
  try {
    const written = typeof (logged as { toJSON?: unknown }).toJSON === 'function' ? (logged as { toJSON(): unknown }).toJSON() : logged;
    return typeof written === 'object' && written !== null ? covered(written, (value) => censored(value, depth - 1)) : written;
  } catch {
    return UNREADABLE;
  }
}

/** The same for what a line is made of; each line of every log goes through it. Errors under one of the names `told` are left for what the logger writes them with. */
export function censoredLine<T extends object>(line: T, told: readonly string[]): T | { line: string } {
  try {
    return covered(line, (value, name) => (value instanceof Error && told.includes(name) ? value : censored(value, DEPTH - 1)));
  } catch {
    return { line: UNREADABLE };
  }
}

function covered<T extends object>(logged: T, cover: (value: unknown, name: string) => unknown): T {
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(logged)) {
    const value = (logged as Record<string, unknown>)[name];
    const shown = SECRET_NAMES.has(name) ? CENSORED : cover(value, name);
    if (shown === value) continue;
    copy ??= (Array.isArray(logged) ? [...logged] : { ...logged }) as Record<string, unknown>;
    copy[name] = shown;
  }
  return (copy as T | undefined) ?? logged;
}

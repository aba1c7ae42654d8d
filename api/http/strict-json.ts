import { invalid, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { endOfString } from '#shared/core/sent-json.ts';

const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * Reads a JSON body the strict way: UTF-8 only, no key twice, at most 8 levels. No key is refused for its name: JSON.parse makes even of
 * `__proto__` a plain one (decisions 8).
 * @throws malformed_json, or validation_error for text that no database column can hold
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new ServiceError('malformed_json');
  }
  refuseAmbiguity(text);
  refuseUnstorable(value, '');
  return value;
}

/** Walks text that is known to be valid JSON, because JSON.parse silently keeps the last of two equal keys. */
function refuseAmbiguity(text: string): void {
  const open: (Set<string> | null)[] = [];
  let keyNext = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : null);
      if (open.length > POLICY.bodyDepth) throw malformed(`it is nested deeper than ${POLICY.bodyDepth} levels`);
      keyNext = character === '{';
    } else if (character === '}' || character === ']') open.pop();
    else if (character === ',') keyNext = open.at(-1) instanceof Set;
    else if (character === '"') {
      const end = endOfString(text, at);
      if (keyNext) remember(open.at(-1) as Set<string>, JSON.parse(text.slice(at, end)) as string);
      keyNext = false;
      at = end - 1;
    }
  }
}

function remember(keys: Set<string>, key: string): void {
  if (keys.has(key)) throw malformed(`the key "${key.slice(0, 64)}" appears twice`);
  keys.add(key);
}

/** Postgres stores neither U+0000 nor half of a surrogate pair. */
function refuseUnstorable(value: unknown, path: string): void {
  const field = path === '' ? 'body' : path.slice(0, 200);
  if (typeof value === 'string' && UNSTORABLE.test(value)) throw invalid(field, 'must not contain U+0000 or unpaired surrogates');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (UNSTORABLE.test(key)) throw invalid(field, 'must not contain U+0000 or unpaired surrogates');
    refuseUnstorable(inner, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
  }
}

function malformed(reason: string): ServiceError {
  return new ServiceError('malformed_json', { message: `The body is not acceptable JSON: ${reason}.` });
}

import { ERRORS, type ErrorCode } from './errors.ts';
import { withSent } from './sent-json.ts';

/** The body of every 2xx (contract 1). */
export function successBody(data: object): string {
  return withSent(JSON.stringify({ success: true, data }));
}

/** The body of every 4xx and 5xx (contract 1). */
export function failureBody(code: ErrorCode, message: string = ERRORS[code].message): string {
  return JSON.stringify({ success: false, error: { code, message } });
}

import { describe, expect, it } from 'vitest';
import { toServiceError } from '#api/http/envelope.ts';

describe('a failed statement', () => {
  it.each([
    ['the database is stopped', 'ECONNREFUSED'],
    ['the database is starting', '57P03'],
    ['its name does not resolve, as that of a stopped container', 'ENOTFOUND'],
    ['its name does not resolve at the moment', 'EAI_AGAIN'],
    ['its machine is gone', 'EHOSTUNREACH'],
    ['its network is gone', 'ENETUNREACH'],
    ['it became a standby that takes no writes', '25006'],
    ['it takes no more connections', '53300'],
  ])('because %s (%s) is 503 and asks to come back', (_why, code) => {
    const cause = Object.assign(new Error('canary'), { code });
    expect(toServiceError(cause)).toMatchObject({ status: 503, code: 'service_unavailable', retryAfterSeconds: 1, cause });
  });

  it.each(['23505', '22P02', '42601', undefined])('that says something about the statement itself (%s) is our mistake: 500', (code) => {
    const cause = Object.assign(new Error('canary'), code === undefined ? {} : { code });
    const { status, message } = toServiceError(cause);
    expect([status, message.includes('canary')]).toEqual([500, false]);
  });
});

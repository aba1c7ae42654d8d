import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode, invalid, ServiceError } from '#shared/core/errors.ts';

describe('an error', () => {
  test.each(Object.keys(ERRORS) as ErrorCode[])('%s carries its status and a sentence for people', (code) => {
    const error = new ServiceError(code);
    expect(error).toMatchObject({ code, status: ERRORS[code].status, message: ERRORS[code].message });
    expect(error.status).toBeGreaterThanOrEqual(400);
    expect(error.message).toMatch(/^[A-Z].*\.$/s);
  });

  test('about a field names it in what the client reads', () => {
    expect(invalid('amount', 'must be greater than 0')).toMatchObject({
      code: 'validation_error',
      status: 422,
      field: 'amount',
      message: 'amount: must be greater than 0',
    });
  });

  test('keeps its cause for the log and out of its sentence', () => {
    const error = new ServiceError('internal_error', { cause: new Error('password=hunter2') });
    expect(error.message).not.toContain('hunter2');
    expect(error.cause).toBeInstanceOf(Error);
  });
});

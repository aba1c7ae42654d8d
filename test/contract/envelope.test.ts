import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aService, type Service } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

describe('every path answers the envelope', () => {
  it.each([
    '/',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v2/payments',
    '/API/V1/payments',
    '/api/v1/payment',
    '/operator/v1',
    '/docs/missing.js',
    '/%E0%A4%A',
    '//api/v1/payments',
    '/api/v1/payments/a/b/c',
    '/wp-login.php?x=1',
  ])('404 on GET %s', async (path) => {
    const { status, text } = await service.ask('GET', path);
    expect([status, text]).toEqual([404, '{"success":false,"error":{"code":"not_found","message":"Not found."}}']);
  });

  it.each([
    ['PUT', '/api/v1/payments', 'GET, POST'],
    ['DELETE', '/api/v1/merchant/settlements', 'GET, POST'],
    ['GET', '/api/v1/public/payments/x/expire', 'POST'],
    ['POST', '/docs', 'GET, HEAD'],
    ['PATCH', '/openapi.json', 'GET, HEAD'],
    ['OPTIONS', '/api/v1/assets', 'GET'],
  ])('405 on %s %s, saying what is allowed', async (method, path, allow) => {
    const { status, error, headers } = await service.ask(method, path);
    expect([status, error.code, headers.get('allow')]).toEqual([405, 'method_not_allowed', allow]);
  });

  it('HEAD answers like an unknown method, without a body', async () => {
    const response = await fetch(`${service.origin}/api/v1/assets`, { method: 'HEAD' });
    expect(response.status).toBe(405);
    expect(response.headers.get('x-request-id')).not.toBeNull();
  });

  it('gives every response its own request id', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await service.ask('GET', '/api/v1/assets')).headers.get('x-request-id')));
    expect(new Set(ids).size).toBe(20);
  });
});

import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogger, type Logger } from '#shared/platform/logger.ts';

function logged(write: (log: Logger) => void): Record<string, unknown> {
  let text = '';
  const to = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  write(createLogger({ component: 'test', level: 'info' }, to));
  return JSON.parse(text) as Record<string, unknown>;
}

test('shows no value that is named like a secret, wherever an object is logged', () => {
  const sealed = { apiKey: 'hush', kept: 1 };
  const error = Object.assign(new Error('refused'), { password: 'hush', query: { seed: 'hush' } });
  const places: ((log: Logger) => void)[] = [
    (log) => log.info(sealed, 'itself'),
    (log) => log.info({ config: sealed }, 'one within'),
    (log) => log.info({ request: { headers: { authorization: 'hush' } } }, 'two within'),
    (log) => log.info({ keys: [sealed, 'plain'] }, 'in a list'),
    (log) => log.child(sealed).info('of a child'),
    (log) => log.child({ config: sealed }).child({ a: 1 }).info('within what a child is made with'),
    (log) => log.child({ a: 1 }).child({ config: sealed }).info('within what a child of a child is made with'),
    (log) => log.info('interpolated %j', sealed),
    (log) => log.info('interpolated %j', { config: sealed }),
    (log) => log.info({ a: 1 }, 'interpolated %o', [sealed]),
    (log) => log.info({ a: 1 }, sealed as unknown as string),
    (log) => log.info({ config: { kept: 1, toJSON: () => ({ config: sealed }) } }, 'what writes itself'),
    (log) => log.info({ problem: error }, 'an error by another name'),
    (log) => log.info({ problems: [error] }, 'an error in a list'),
    (log) => log.error(error, 'an error'),
    (log) => log.error({ error }, 'an error by name'),
    (log) => log.error({ err: error }, 'an error by its other name'),
  ];
  for (const place of places) {
    const line = JSON.stringify(logged(place));
    expect(line).not.toContain('hush');
    expect(line).toContain('[redacted]');
  }
});

test('leaves what is logged as it was, and shows all else of it', () => {
  const config = { secret: 'hush', port: 80, list: [1, { totpCode: 'hush', at: new Date(0) }] };
  expect(logged((log) => log.info({ config, bytes: Buffer.from('ab') }, 'told'))).toMatchObject({
    component: 'test',
    config: { secret: '[redacted]', port: 80, list: [1, { totpCode: '[redacted]', at: '1970-01-01T00:00:00.000Z' }] },
    bytes: { type: 'Buffer', data: [97, 98] },
    msg: 'told',
  });
  expect(config).toEqual({ secret: 'hush', port: 80, list: [1, { totpCode: 'hush', at: new Date(0) }] });
});

test('an error keeps its message, its code and its stack beside a secret', () => {
  const line = logged((log) => log.error({ err: Object.assign(new Error('refused'), { code: '28P01', password: 'hush' }) }, 'told'));
  expect(line.err).toMatchObject({
    type: 'Error',
    message: 'refused',
    code: '28P01',
    password: '[redacted]',
    stack: expect.stringContaining('refused') as string,
  });
});

test('never throws, whatever an object does when it is read', () => {
  const mined = {
    get secretive(): string {
      throw new Error('not for you');
    },
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const places: ((log: Logger) => void)[] = [
    (log) => log.info(mined, 'told'),
    (log) => log.info({ mined }, 'told'),
    (log) => log.info({ list: [mined, proxy] }, 'told'),
    (log) => log.info({ itself: { toJSON: () => mined.secretive } }, 'told'),
    (log) => log.info({ err: Object.assign(new Error('refused'), { mined }) }, 'told'),
    (log) => log.child({ mined }).info('told'),
  ];
  for (const place of places) {
    const line = logged(place);
    expect(line.msg).toBe('told');
    expect(JSON.stringify(line)).toContain('[unreadable]');
  }
});

test('writes an object that holds itself', () => {
  const round: Record<string, unknown> = { name: 'round' };
  round.self = round;
  expect(logged((log) => log.info({ round }, 'told'))).toMatchObject({ round: { name: 'round' } });
});

test('writes what was thrown and is no error', () => {
  for (const thrown of [null, 'gone', 7]) expect(logged((log) => log.error({ error: thrown }, 'told'))).toMatchObject({ error: thrown });
});

import { expect, it } from 'vitest';
import { openPlaces } from '#api/http/socket-places.ts';

it('gives each client its share, an IPv6 subscriber being one', () => {
  const places = openPlaces({ perClient: 2, together: 100 });
  for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2']) places.take(ip);
  for (const ip of ['192.0.2.1', '2001:db8::3'])
    expect(() => places.take(ip)).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded', retryAfterSeconds: 30 }));
  places.take('2001:db8:0:1::1');
});

it('has no more than so many together, whoever asks', () => {
  const places = openPlaces({ perClient: 9, together: 2 });
  places.take('192.0.2.1');
  places.take('192.0.2.2');
  expect(() => places.take('192.0.2.3')).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
});

it('takes a place back once, however often it is given back', () => {
  const places = openPlaces({ perClient: 1, together: 1 });
  for (let round = 0; round < 3; round++) {
    const giveBack = places.take('192.0.2.1');
    giveBack();
    giveBack();
  }
  places.take('192.0.2.1');
  expect(() => places.take('192.0.2.2')).toThrow();
});

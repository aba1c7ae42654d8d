import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientIp } from '#api/http/client-ip.ts';
import { canonicalIp, isIpRange, isIpWithin, isRangeWithin, subscriberOf } from '#shared/platform/ip.ts';

const from = (remoteAddress: string, forwarded?: string | string[]) =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

describe('clientIp', () => {
  it.each([
    ['believes nobody when no proxy is configured', from('203.0.113.9', '1.2.3.4'), [], '203.0.113.9'],
    ['believes nobody but the configured proxies', from('203.0.113.9', '1.2.3.4'), ['10.0.0.0/8'], '203.0.113.9'],
    ['takes the right-most hop that is not a proxy', from('10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2'), ['10.0.0.0/8'], '1.2.3.4'],
    ['ignores what a client wrote to the left', from('10.0.0.1', '127.0.0.1, 1.2.3.4'), ['10.0.0.0/8'], '1.2.3.4'],
    ['stops at a hop that is no address', from('10.0.0.1', '1.2.3.4, unknown'), ['10.0.0.0/8'], '10.0.0.1'],
    ['folds IPv4-mapped IPv6', from('::ffff:10.0.0.1', '::ffff:1.2.3.4'), ['10.0.0.0/8'], '1.2.3.4'],
    ['reads hops with a port', from('10.0.0.1', '1.2.3.4:5678'), ['10.0.0.0/8'], '1.2.3.4'],
    ['reads IPv6 hops with a port', from('fd00::1', '[2001:DB8::1]:443'), ['fd00::/8'], '2001:db8::1'],
    ['reads a repeated header as one list', from('10.0.0.1', ['9.9.9.9', '1.2.3.4']), ['10.0.0.0/8'], '1.2.3.4'],
    ['falls back to the proxy when it forwarded nothing', from('10.0.0.1'), ['10.0.0.0/8'], '10.0.0.1'],
    ['drops the zone of a link-local hop', from('fe80::1%eth0', 'fe80::2%lan0'), ['fe80::1'], 'fe80::2'],
    ['stops at a hop in quotes, as Forwarded writes them', from('10.0.0.1', '"1.2.3.4"'), ['10.0.0.0/8'], '10.0.0.1'],
    ['stops at an empty hop', from('10.0.0.1', '1.2.3.4, ,10.0.0.2'), ['10.0.0.0/8'], '10.0.0.2'],
    ['stops at an octal, a short and a hexadecimal address', from('10.0.0.1', '010.1.2.3'), ['10.0.0.0/8'], '10.0.0.1'],
    ['stops at a name', from('10.0.0.1', 'localhost'), ['10.0.0.0/8'], '10.0.0.1'],
    ['walks a thousand hops', from('10.0.0.1', `6.6.6.6, 1.2.3.4, ${Array(1_000).fill('10.0.0.2').join(',')}`), ['10.0.0.0/8'], '1.2.3.4'],
    ['knows single addresses and IPv6 ranges as proxies', from('10.0.0.1', '1.2.3.4, 2001:db8::7'), ['10.0.0.1', '2001:db8::/32'], '1.2.3.4'],
    ['answers the farthest hop when all are proxies', from('10.0.0.1', '10.0.0.3, 10.0.0.2'), ['10.0.0.0/8'], '10.0.0.3'],
  ])('%s', (_rule, request, proxies, expected) => expect(clientIp(request, proxies)).toBe(expected));
});

describe('clientIp, whatever a client sends', () => {
  const hop = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string(),
    fc.constantFrom('10.0.0.1', '127.0.0.1', '::ffff:10.0.0.1', '[::1]:80', '', 'unknown', '%', '/', '[', '1.2.3.4/0'),
  );
  const header = fc.array(hop, { maxLength: 12 }).map((hops) => hops.join(','));

  it('is the address of the connection when no proxy is configured', () =>
    fc.assert(
      fc.property(header, (forged) => {
        expect(clientIp(from('203.0.113.9', forged), [])).toBe('203.0.113.9');
      }),
    ));

  it('is what the proxy saw, which stands right of everything the client wrote', () =>
    fc.assert(
      fc.property(header, (forged) => {
        expect(clientIp(from('10.0.0.1', `${forged}, 203.0.113.9`), ['10.0.0.0/8'])).toBe('203.0.113.9');
        expect(clientIp(from('10.0.0.1', [forged, '203.0.113.9, 10.0.0.2']), ['10.0.0.0/8'])).toBe('203.0.113.9');
      }),
    ));

  it('is always an address in its one spelling', () =>
    fc.assert(
      fc.property(header, (forged) => {
        const ip = clientIp(from('10.0.0.1', forged), ['10.0.0.0/8', '0.0.0.0/0', '::/0']);
        expect(canonicalIp(ip)).toBe(ip);
      }),
    ));
});

describe('subscriberOf', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['::1', '::/64'],
    ['unknown', 'unknown'],
  ])('%s counts as %s', (address, expected) => expect(subscriberOf(address)).toBe(expected));
});

describe('isIpWithin', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.1/32', true],
    ['192.0.2.2', '192.0.2.1', false],
    ['192.0.2.255', '192.0.2.0/24', true],
    ['192.0.3.0', '192.0.2.0/24', false],
    ['8.8.8.8', '0.0.0.0/0', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '::ffff:192.0.2.0/120', true],
    ['2001:db8::1', '2001:db8::/32', true],
    ['2001:db9::1', '2001:db8::/32', false],
    ['2001:db8:0:0::1', '2001:db8::1', true],
    ['2001:db8::2', '2001:db8::1', false],
    ['192.0.2.9', '::ffff:192.0.2.9', true],
    ['192.0.2.8', '::ffff:192.0.2.9', false],
    ['::ffff:c000:209', '192.0.2.9/32', true],
    ['192.0.2.9', '::ffff:0:0/96', true],
    ['2001:db8::1', '::ffff:0:0/96', false],
    ['192.0.2.9', '192.0.2.77/24', true],
    ['fe80::1%eth0', 'fe80::/10', true],
    ['192.0.2.1', '::/0', false],
    ['::1', '0.0.0.0/0', false],
    ['0x7f.1', '127.0.0.1', false],
    ['::192.0.2.1', '192.0.2.1', false],
    ['unknown', '0.0.0.0/0', false],
  ])('%s in %s: %s', (address, range, expected) => expect(isIpWithin(address, [range])).toBe(expected));

  it('holds nobody when the list is empty', () => expect(isIpWithin('127.0.0.1', [])).toBe(false));

  it.each([
    '192.0.2.0/33',
    '192.0.2.0/',
    '192.0.2/24',
    '192.0.2.0/24/8',
    'example.com',
    '',
    '127.1',
    '017.0.0.1',
    '::/129',
    '192.0.2.1/-1',
    '::ffff:0:0/95',
    'fe80::1%eth0',
    ' 192.0.2.1',
    '192.0.2.1 ',
    '192.0.2.1/ 8',
    '[::1]',
    '1.2.3.4:80',
    '*',
    '192.0.2.*',
    '192.0.2.1-192.0.2.9',
    '::1/1e1',
  ])('%j is no range', (text) => {
    expect(isIpRange(text)).toBe(false);
    expect(isIpWithin('192.0.2.1', [text])).toBe(false);
  });

  it('spells every address one way', () =>
    expect(['::FFFF:192.0.2.1', '2001:DB8:0:0:0:0:0:1', '1.2.3.04'].map(canonicalIp)).toEqual(['192.0.2.1', '2001:db8::1', undefined]));
});

describe('a range within others', () => {
  it.each([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['10.1.0.0/16', ['192.0.2.1', '10.0.0.0/8'], true],
    ['10.0.0.0/8', ['10.0.0.0/8'], true],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['::ffff:10.1.0.0/112', ['10.0.0.0/8'], true],
    ['2001:db8:1::/48', ['2001:db8::/32'], true],
    ['10.0.0.0/7', ['10.0.0.0/8'], false],
    ['0.0.0.0/0', ['10.0.0.0/8'], false],
    ['0.0.0.0/0', ['::/0'], false],
    ['::/0', ['0.0.0.0/0'], false],
    ['11.0.0.0/16', ['10.0.0.0/8'], false],
    ['10.0.0.0/8', ['10.0.0.0/9', '10.128.0.0/9'], false],
    ['10.0.0.0/8', [], false],
    ['nonsense', ['0.0.0.0/0', '::/0'], false],
  ])('%s in %j: %s', (range, others, inside) => expect(isRangeWithin(range, others)).toBe(inside));
});

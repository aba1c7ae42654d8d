import { describe, expect, it } from 'vitest';
import { createWebhookHttp } from '#api/clients/webhook-http.ts';
import { mayReach, parseWebhookTarget, reachOf, type WebhookPolicy } from '#api/clients/webhook-target.ts';

const strict: WebhookPolicy = { privateTargets: false, requireHttps: false };
const open: WebhookPolicy = { privateTargets: true, requireHttps: false };
const production: WebhookPolicy = { privateTargets: false, requireHttps: true };

/** Hosts that lead inside, in every spelling a URL allows; refused before anything is resolved. */
const INTERNAL_HOSTS = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0x0.0.1',
  '127.0.0.1.',
  '１２７.0.0.1',
  '127。0。0。1',
  '⑫7.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'api.localhost',
  'ｌｏｃａｌｈｏｓｔ',
  '0',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '012.0.0.1',
  '167772161',
  '100.64.0.1',
  '100.127.255.254',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '169.254.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.0.170',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.1',
  '192.175.48.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::127.0.0.1]',
  '[::10.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:10.1.2.3]',
  '[::ffff:169.254.169.254]',
  '[0:0:0:0:0:ffff:192.168.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::1]',
  '[100::1]',
  '[2001::1]',
  '[2001:0:53aa:64c:1c9f:3b4e:80ff:fffe]',
  '[2001:2::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2002:c0a8:101::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[ff02::1]',
];

describe('a webhook URL that leads inside is refused in every spelling', () => {
  it.each(INTERNAL_HOSTS)('%s', async (host) => {
    expect(parseWebhookTarget(`http://${host}/hook`, strict).ok).toBe(false);
    const resolved: string[] = [];
    const client = createWebhookHttp({ policy: strict, resolve: async (name) => void resolved.push(name) as never });
    expect(await client.post(`http://${host}:8080/hook`, {}, '{}')).toMatchObject({ kind: 'failed', result: 'blocked' });
    expect(resolved).toEqual([]);
  });
});

describe('a name that resolves inside is refused, even when only one of its addresses is', () => {
  const answers: string[][] = [
    ['127.0.0.1'],
    ['::1'],
    ['93.184.216.34', '127.0.0.1'],
    ['2606:4700::1111', '10.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['169.254.169.254'],
    ['fe80::1%eth0'],
    ['not-an-address'],
  ];
  it.each(answers)('%s', async (...addresses) => {
    const client = createWebhookHttp({ policy: strict, resolve: async () => addresses });
    expect(await client.post('http://hooks.example/', {}, '{}')).toMatchObject({ kind: 'failed', result: 'blocked' });
  });
});

describe('a URL that no webhook client should be given', () => {
  it.each([
    'ftp://shop.example/',
    'file:///etc/passwd',
    'gopher://shop.example/',
    'javascript:alert(1)',
    'data:text/plain,x',
    '//shop.example/hook',
    'shop.example/hook',
    'http:shop.example',
    'http:/shop.example',
    'http://',
    'http:///hook',
    'https://user@shop.example/',
    'https://user:pass@shop.example/',
    'https://127.0.0.1@shop.example:22/',
    'https://shop.example\\@127.0.0.1/',
    'http://shop.example:22/',
    'http://shop.example:25/',
    'http://shop.example:1023/',
    'http://shop.example:99999/',
    'http://shop .example/',
    'http://shop.example/\r\nHost: inside',
    'ht\ntp://shop.example/',
    'http://[::1/',
    'http://[fe80::1%25eth0]/',
    `https://shop.example/${'a'.repeat(2_048)}`,
  ])('%s', (url) => {
    expect(parseWebhookTarget(url, open).ok).toBe(false);
  });
});

describe('public hosts are not blocked', () => {
  it.each([
    'http://shop.example/hook',
    'https://shop.example/hook?x=1#y',
    'https://shop.example:8443/',
    'https://sub.domain.shop.co.uk/a/b',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'http://1.1.1.1/',
    'http://8.8.8.8:80/',
    'http://172.15.255.255/',
    'http://172.32.0.1/',
    'http://100.63.255.255/',
    'http://100.128.0.1/',
    'http://192.167.255.255/',
    'http://192.169.0.1/',
    'http://198.17.0.1/',
    'http://198.20.0.1/',
    'http://169.253.0.1/',
    'http://223.255.255.255/',
    'http://11.0.0.1/',
    'http://128.0.0.1/',
    'http://[2606:4700:4700::1111]/',
    'http://[2a00:1450:4001::1]/',
    'http://[2001:4860:4860::8888]/',
    'http://[2400:cb00::1]/',
    'http://[::ffff:8.8.8.8]/',
    'https://localhost.example/',
    'https://notlocalhost/',
  ])('%s', (url) => {
    expect(parseWebhookTarget(url, strict)).toMatchObject({ ok: true });
  });
});

describe('a deployment that allows private targets', () => {
  it.each([
    'http://127.0.0.1:4242/webhook',
    'http://localhost:4242/',
    'http://[::1]:3000/',
    'http://10.0.0.5/',
    'http://192.168.1.10:8080/',
    'http://172.20.0.3/',
    'http://[fd00::1]/',
  ])('may reach %s', (url) => {
    expect(parseWebhookTarget(url, open)).toMatchObject({ ok: true });
  });
  it.each([
    'http://169.254.169.254/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://[fe80::1]/',
    'http://224.0.0.1/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
  ])('still may not reach %s', (url) => {
    expect(parseWebhookTarget(url, open)).toMatchObject({ ok: false });
  });
});

it('production wants https', () => {
  expect(parseWebhookTarget('http://shop.example/', production)).toEqual({ ok: false, problem: 'must use https' });
  expect(parseWebhookTarget('https://shop.example/', production)).toMatchObject({ ok: true });
});

it('every first octet is either public or listed', () => {
  const blocked = Array.from({ length: 256 }, (_, octet) => octet).filter((octet) => reachOf(`${octet}.200.77.77`) !== 'public');
  expect(blocked).toEqual([0, 10, 127, ...Array.from({ length: 32 }, (_, index) => 224 + index)]);
});

it('IPv6 outside 2000::/3 is never public', () => {
  for (let first = 0; first < 0x10000; first += 0x155) {
    const address = `${first.toString(16)}:1:2:3:4:5:6:7`;
    if (first < 0x2000 || first > 0x3fff) expect(mayReach(address, strict)).toBe(false);
  }
});

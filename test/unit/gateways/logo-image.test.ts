import { describe, expect, it } from 'vitest';
import { readLogoImage } from '#api/gateways/logo-image.ts';
import { uploadedFile } from '#api/http/uploaded-file.ts';

const chunk = (name: string, body = Buffer.alloc(0)): Buffer<ArrayBuffer> => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, body, Buffer.alloc(4)]);
};
const size = (width: number, height: number): Buffer<ArrayBuffer> => {
  const body = Buffer.alloc(13);
  body.writeUInt32BE(width);
  body.writeUInt32BE(height, 4);
  return body;
};
const png = (width = 64, height = 64, ...more: Buffer<ArrayBuffer>[]) =>
  Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', size(width, height)), ...more, chunk('IDAT', Buffer.alloc(20)), chunk('IEND')]);
const webp = (kind: string, body: Buffer): Buffer<ArrayBuffer> => {
  const head = Buffer.alloc(20);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(12 + body.length, 4);
  head.write(`WEBP${kind}`, 8, 'latin1');
  return Buffer.concat([head, body]);
};
const extended = (flags: number): Buffer => {
  const body = Buffer.alloc(10);
  body[0] = flags;
  body.writeUIntLE(63, 4, 3);
  body.writeUIntLE(31, 7, 3);
  return webp('VP8X', body);
};

describe('a logo', () => {
  it('is what its bytes say, PNG or WebP', () => {
    expect(readLogoImage(png(64, 32))).toEqual({ type: 'image/png', width: 64, height: 32 });
    expect(readLogoImage(extended(0x10))).toEqual({ type: 'image/webp', width: 64, height: 32 });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a vector image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
    ['a page', Buffer.from('<!doctype html><script>1</script>')],
    ['a GIF', Buffer.from('GIF89a\x10\x00\x10\x00')],
    ['a page behind a PNG', Buffer.concat([png(), Buffer.from('<script>')])],
    ['a PNG that moves', png(64, 64, chunk('acTL', Buffer.alloc(8)))],
    ['a WebP that moves', extended(0x02)],
    ['a PNG that unfolds to gigabytes', png(60_000, 60_000)],
    ['a PNG of one pixel', png(1, 1)],
    ['a PNG whose end is missing', png().subarray(0, -12)],
    ['a PNG whose chunk is longer than it', Buffer.concat([png().subarray(0, 33), Buffer.from('7fffffff49444154', 'hex')])],
    ['a WebP whose length lies', Buffer.concat([extended(0), Buffer.alloc(3)])],
    ['more than 12 KB', Buffer.concat([png().subarray(0, -12), chunk('tEXt', Buffer.alloc(12_000)), chunk('IEND')])],
  ])('is not %s', (_what, bytes) => {
    expect(() => readLogoImage(bytes)).toThrow(expect.objectContaining({ code: 'validation_error', field: 'logo' }));
  });
});

describe('a file in a form', () => {
  const form = (boundary: string, ...parts: string[]) =>
    Buffer.from(`${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`, 'latin1');
  const type = 'multipart/form-data; boundary=----x9';

  it('is read byte for byte, whatever it is called', () => {
    const bytes = '\x89PNG\r\n\r\n--x\x00\xff\r\n';
    const body = form(
      '----x9',
      'Content-Disposition: form-data; name="other"\r\n\r\n1',
      `Content-Disposition: form-data; name="logo"; filename="../../x.svg"\r\nContent-Type: text/html\r\n\r\n${bytes}`,
    );
    expect(uploadedFile(body, type, 'logo').toString('latin1')).toBe(bytes);
  });

  it.each([
    ['another type', 'application/x-www-form-urlencoded', form('----x9', 'Content-Disposition: form-data; name="logo"; filename="a"\r\n\r\n1')],
    ['no such field', type, form('----x9', 'Content-Disposition: form-data; name="logo2"; filename="a"\r\n\r\n1')],
    ['a field that is no file', type, form('----x9', 'Content-Disposition: form-data; name="logo"\r\n\r\n1')],
    ['an end that never comes', type, Buffer.from('------x9\r\nContent-Disposition: form-data; name="logo"; filename="a"\r\n\r\n1')],
  ])('is none in %s', (_what, contentType, body) => {
    expect(() => uploadedFile(body, contentType, 'logo')).toThrow(expect.objectContaining({ code: 'validation_error', field: 'logo' }));
  });
});

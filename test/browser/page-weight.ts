import { get } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { expect } from 'vitest';

/** A page of the console as it travels to a browser of today, with what it loads. */
const BYTES = 80_000;
const REQUESTS = 8;

/** Holds a page, with its script and its styles, against what a page of the console may weigh. */
export async function expectLightPage(origin: string, path: string, session: string): Promise<void> {
  const headers = { cookie: `__Host-sluice=${session}`, 'accept-encoding': 'br' };
  const body = await travelled(`${origin}${path}`, headers);
  const html = brotliDecompressSync(body).toString('utf8');
  const assets = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, asset]) => `${origin}${asset}`);
  expect(assets.length, path).toBeGreaterThan(1);
  expect(assets.length + 1, path).toBeLessThanOrEqual(REQUESTS);
  let bytes = body.length;
  for (const asset of assets) bytes += (await travelled(asset, headers)).length;
  expect(bytes, path).toBeLessThanOrEqual(BYTES);
}

/** An answer as it came over the wire. */
function travelled(address: string, headers: Record<string, string>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(address, { headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => resolve(Buffer.concat(parts)));
      answer.on('error', reject);
    }).on('error', reject);
  });
}

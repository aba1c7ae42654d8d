import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { QrCode } from '#api/page/qr.tsx';
import { readRenderedQr } from '#test/fixtures/rendered-qr.ts';

const PAYEE = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const BSC_USDT = '0x55d398326f99059fF775485246999027B3197955';

/** What each kind of payload measures at level M, in modules (ux 4). */
const SIZES: [string, number][] = [
  [PAYEE, 29],
  ['TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 29],
  ['bitcoin:BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ?amount=0.00044007', 33],
  [`ethereum:${PAYEE}@1?value=20140000000000000`, 37],
  [`ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=${PAYEE}&uint256=20140000`, 45],
  [`ethereum:${BSC_USDT}@56/transfer?address=${PAYEE}&uint256=20140000000000000000`, 49],
];

describe('a QR code', () => {
  it.each(SIZES)('of %s is read again as it was, at the size of level M', async (payload, size) => {
    const svg = renderToString(<QrCode payload={payload} label="a code" />);
    expect(svg).toContain(`viewBox="-4 -4 ${size + 8} ${size + 8}"`);
    expect(await readRenderedQr(svg)).toBe(payload);
  });

  it('is dark on white whatever the page looks like, an image with a name, and nothing the policy of the page forbids', () => {
    const svg = renderToString(<QrCode payload={PAYEE} label={'QR code: "20" & more'} />);
    expect(svg).toMatch(/^<svg class="qr" role="img" aria-label="QR code: &quot;20&quot; &amp; more" /);
    expect(svg).toContain('<rect x="-4" y="-4" width="37" height="37" fill="#fff"');
    expect(svg).toMatch(/<path d="[^"]+" fill="#000"/);
    expect(svg).not.toMatch(/style=|href|<script/);
  });
});

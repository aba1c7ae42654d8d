import { readFile } from 'node:fs/promises';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';

let reader: Promise<unknown> | undefined;

/** What a phone's camera reads in a picture: the text of the one QR code in PNG bytes or pixels; undefined when it finds none. */
export async function readQr(picture: Uint8Array | ImageData): Promise<string | undefined> {
  reader ??= readFile('node_modules/zxing-wasm/dist/reader/zxing_reader.wasm').then((wasm) =>
    prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(wasm).buffer }, fireImmediately: true }),
  );
  await reader;
  // As strict as the weakest wallets: no second look at an inverted picture.
  const [found] = await readBarcodes(picture instanceof Uint8Array ? new Uint8Array(picture) : picture, {
    formats: ['QRCode'],
    tryInvert: false,
    tryHarder: true,
  });
  return found?.text;
}

import { invalid } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';

/** An image that may be shown as a logo: what it is by its own bytes, whatever anybody calls it. */
export interface LogoImage {
  type: 'image/png' | 'image/webp';
  width: number;
  height: number;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
/** Chunks of PNG that animate, or carry text and profiles that nobody needs to see a logo. */
const MOVING = ['acTL', 'fcTL', 'fdAT'];

/**
 * Looks at the bytes of a logo: PNG or WebP that stands still, of a side of 16 to 512 pixels, small. A vector image is none, since it could carry styles and programs. Pure.
 * @throws validation_error naming logo
 */
export function readLogoImage(bytes: Buffer): LogoImage {
  if (bytes.length === 0) throw invalid('logo', 'must be an image');
  if (bytes.length > POLICY.uploadedLogoBytes) throw invalid('logo', `must be at most ${POLICY.uploadedLogoBytes} bytes`);
  const image = bytes.subarray(0, 8).equals(PNG) ? readPng(bytes) : isWebp(bytes) ? readWebp(bytes) : undefined;
  if (image === undefined) throw invalid('logo', 'must be a PNG or WebP image that does not move');
  for (const side of [image.width, image.height])
    if (side < POLICY.logoSides.least || side > POLICY.logoSides.most)
      throw invalid('logo', `must have sides of ${POLICY.logoSides.least} to ${POLICY.logoSides.most} pixels`);
  return image;
}

/** Goes from chunk to chunk until the last one, which has to be where the bytes end. */
function readPng(bytes: Buffer): LogoImage | undefined {
  let size: { width: number; height: number } | undefined;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    const next = at + 12 + length;
    if (next > bytes.length || MOVING.includes(name) || (name === 'IHDR') !== (at === 8)) return undefined;
    if (name === 'IHDR') {
      if (length !== 13) return undefined;
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    }
    if (name === 'IEND') return next === bytes.length && size !== undefined ? { type: 'image/png', ...size } : undefined;
    at = next;
  }
  return undefined;
}

function isWebp(bytes: Buffer): boolean {
  return (
    bytes.length >= 30 && bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP' && bytes.readUInt32LE(4) + 8 === bytes.length
  );
}

function readWebp(bytes: Buffer): LogoImage | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return bytes.readUIntBE(23, 3) === 0x9d012a
        ? { type: 'image/webp', width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
        : undefined;
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return bytes[20] === 0x2f ? { type: 'image/webp', width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 } : undefined;
    }
    case 'VP8X':
      // Its second bit says that it moves.
      return ((bytes[20] as number) & 0x02) === 0 ? { type: 'image/webp', width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 } : undefined;
    default:
      return undefined;
  }
}

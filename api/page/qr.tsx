import { correction, generate, mode } from 'lean-qr';
import type { JSX } from 'preact';

/** Light modules around the code, which scanners find it by. */
const QUIET_ZONE = 4;

/** Draws the code of `payload` at level M as one path of horizontal runs, in modules (ux 3). */
function drawing(payload: string): { size: number; path: string } {
  const code = generate(payload, { minCorrectionLevel: correction.M, maxCorrectionLevel: correction.M, modes: [mode.numeric, mode.alphaNumeric, mode.ascii] });
  let path = '';
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) {
      if (!code.get(x, y)) continue;
      const from = x;
      while (code.get(x + 1, y)) x += 1;
      path += `M${from} ${y}h${x + 1 - from}v1h${from - x - 1}z`;
    }
  }
  return { size: code.size, path };
}

/**
 * A QR code, always dark on white with its quiet zone, also in dark mode: not every scanner reads an inverted one (ux 3).
 * @param payload ASCII
 * @param label what it is called to those who cannot see it
 */
export function QrCode({ payload, label }: { payload: string; label: string }): JSX.Element {
  const { size, path } = drawing(payload);
  const whole = size + 2 * QUIET_ZONE;
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${whole} ${whole}`} shape-rendering="crispEdges">
      <rect x={-QUIET_ZONE} y={-QUIET_ZONE} width={whole} height={whole} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

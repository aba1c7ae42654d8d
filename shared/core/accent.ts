/** A colour of sRGB, each part 0 to 255. */
type Colour = readonly [number, number, number];

/** The grounds that an accent stands on in one theme, as the pages' stylesheets have them. */
const GROUNDS = {
  light: { card: '#ffffff', ground: '#f3f5f3', onAccent: '#ffffff', away: '#000000', wash: 0.1 },
  dark: { card: '#161e1b', ground: '#0e1412', onAccent: '#0b1411', away: '#ffffff', wash: 0.16 },
} as const;

export type Scheme = keyof typeof GROUNDS;

/** WCAG 2.2: text (1.4.3). What stands out as a control needs 3, which is less. */
const TEXT_CONTRAST = 4.5;
const STEPS = 100;

/** The colours that a page in one scheme is given for an accent. */
export interface AccentTokens {
  accent: string;
  /** Under a pointer. */
  strong: string;
  /** Of words on it. */
  on: string;
  /** Behind words in it. */
  wash: string;
}

/** What became of an accent in one scheme. */
export interface AccentVerdict extends AccentTokens {
  /** Of the colour as it was asked for against the least favourable ground, rounded down to a tenth. */
  contrast: number;
  /** Whether another shade of it is shown, because words in it could not be read. */
  corrected: boolean;
}

/** Whether a text is a colour of six hexadecimal digits, which is the only way a page takes one. Pure. */
export function isHexColour(text: string): boolean {
  return /^#[0-9a-f]{6}$/.test(text);
}

/** The WCAG contrast ratio of two colours, 1 to 21. Pure. */
export function contrastRatio(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(parse(one)), luminance(parse(other))].toSorted((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

/**
 * The accent as a scheme shows it: as it is where words in it, on it and on its wash have a contrast of 4.5, else the nearest shade of it that has. Pure.
 */
export function judgeAccent(hex: string, scheme: Scheme): AccentVerdict {
  const { away, onAccent } = GROUNDS[scheme];
  const shades = Array.from({ length: STEPS + 1 }, (_, step) => mix(hex, away, step / STEPS));
  const accent = shades.find((shade) => leastContrast(shade, scheme) >= TEXT_CONTRAST) ?? away;
  return {
    accent,
    strong: mix(accent, away, 0.2),
    on: onAccent,
    wash: washOf(accent, scheme),
    contrast: Math.floor(leastContrast(hex, scheme) * 10) / 10,
    corrected: accent !== hex,
  };
}

function leastContrast(hex: string, scheme: Scheme): number {
  const { card, ground, onAccent } = GROUNDS[scheme];
  return Math.min(...[card, ground, onAccent, washOf(hex, scheme)].map((other) => contrastRatio(hex, other)));
}

function washOf(hex: string, scheme: Scheme): string {
  const { card, wash } = GROUNDS[scheme];
  return mix(card, hex, wash);
}

function mix(from: string, to: string, share: number): string {
  const [a, b] = [parse(from), parse(to)];
  const parts = a.map((part, at) => Math.round(part + ((b[at] as number) - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function parse(hex: string): Colour {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Colour;
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

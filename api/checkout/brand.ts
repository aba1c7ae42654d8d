import type { GatewaySettings } from '#api/deps.ts';
import { judgeAccent, type Scheme } from '#shared/core/accent.ts';

/** What a gateway's pages look like beside its name and logo. */
export interface Brand {
  /** Six hexadecimal digits behind a `#`; null is the service's own. */
  accent: string | null;
  theme: 'AUTO' | 'LIGHT' | 'DARK';
}

/** What a gateway's settings say of it. Pure. */
export function brandOf({ branding: { accentColor = null, theme = 'AUTO' } }: Pick<GatewaySettings, 'branding'>): Brand {
  return { accent: accentColor, theme };
}

const DARK_QUERY = /\(prefers-color-scheme:\s*dark\)/g;
/** What a media query that follows the reader becomes where the gateway chose. */
const CHOSEN = { LIGHT: 'not all', DARK: 'all' } as const;
const PATH = /^\/brand\/(own|[0-9a-f]{6})-(auto|light|dark)\/([A-Za-z0-9_.-]{1,80}\.css)$/;

/** Where a page finds its style in a gateway's colours: of our own origin, and one request as before. Pure. */
export function brandedStyle(style: string, { accent, theme }: Brand): string {
  if (accent === null && theme === 'AUTO') return style;
  return `/brand/${accent?.slice(1) ?? 'own'}-${theme.toLowerCase()}/${style.slice(style.lastIndexOf('/') + 1)}`;
}

/** What such a path asks for; undefined for any other path. Pure. */
export function readBrandedStyle(path: string): { brand: Brand; style: string } | undefined {
  const found = PATH.exec(path);
  if (found === null) return undefined;
  const [, accent = '', theme = '', name = ''] = found;
  return { brand: { accent: accent === 'own' ? null : `#${accent}`, theme: theme.toUpperCase() as Brand['theme'] }, style: `/assets/${name}` };
}

/**
 * The style of all pages in a gateway's colours. Nothing that a merchant wrote is in it: the colours are computed from three numbers, and the theme is one of three. Pure.
 */
export function brandStyle(css: string, { accent, theme }: Brand): string {
  const themed = theme === 'AUTO' ? css : `${css.replaceAll(DARK_QUERY, CHOSEN[theme])}\n:root{color-scheme:${theme.toLowerCase()}}`;
  if (accent === null) return themed;
  const schemes: readonly Scheme[] = theme === 'AUTO' ? ['light', 'dark'] : [theme === 'DARK' ? 'dark' : 'light'];
  const rules = schemes.map((scheme, at) => {
    const { accent: shown, strong, on, wash } = judgeAccent(accent, scheme);
    const rule = `:root{--accent:${shown};--accent-strong:${strong};--on-accent:${on};--accent-wash:${wash}}`;
    return at === 0 ? rule : `@media (prefers-color-scheme:dark){${rule}}`;
  });
  return `${themed}\n${rules.join('\n')}\n`;
}

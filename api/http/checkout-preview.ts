import { brandedStyle, brandOf } from '#api/checkout/brand.ts';
import { EXAMPLE_SCENES, exampleSnapshot } from '#api/checkout/example-snapshot.ts';
import type { PageAssets } from '#api/checkout/page/model.ts';
import { renderPage } from '#api/checkout/page/render.tsx';
import type { GatewaySettings } from '#api/deps.ts';
import { chooseLanguage } from '#api/page/language.ts';
import type { Catalogues } from './catalogues.ts';

/** What the checkout's pages are drawn with. */
export interface CheckoutLooks {
  assets: PageAssets;
  catalogues: Catalogues;
}

interface Previewed {
  name: string;
  settings: GatewaySettings;
  /** Which moment; the first one where it is none. */
  scene: string | null;
  language: string;
  /** Where the uploaded logo is. */
  logoPath: string;
}

/** A payer's page of a payment that nobody made, by the code that draws theirs; without a program. */
export function drawPreview({ assets, catalogues }: CheckoutLooks, { name, settings, scene, language, logoPath }: Previewed): string {
  const { branding } = settings;
  const tag = chooseLanguage(catalogues.tags, { asked: language, given: [], accepted: undefined });
  const merchant = {
    name: branding.displayName ?? name,
    host: null,
    logoPath: (branding.logo ?? null) === null ? null : logoPath,
    supportUrl: branding.supportUrl,
  };
  return renderPage({
    kind: 'payment',
    language: catalogues.language(tag),
    languages: [],
    languageAsked: false,
    assets: { ...assets, script: null, style: brandedStyle(assets.style, brandOf(settings)) },
    path: '#',
    snapshot: exampleSnapshot(EXAMPLE_SCENES.find((one) => one === scene) ?? EXAMPLE_SCENES[0], { merchant, qrMode: branding.qrMode, now: new Date() }),
    choosing: false,
    problem: null,
    socketUrl: '',
  });
}

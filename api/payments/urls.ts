import type { ApiConfig } from '#shared/platform/config.ts';

/** Where the hosted checkout is reached, without a trailing slash. */
export function checkoutUrl(config: ApiConfig): string {
  return (config.SLUICE_CHECKOUT_URL ?? `http://${config.SLUICE_HOST}:${config.SLUICE_CHECKOUT_PORT}`).replace(/\/$/, '');
}

/** Where this api itself is reached (logos, explorer), without a trailing slash. */
export function publicUrl(config: ApiConfig): string {
  return (config.SLUICE_PUBLIC_URL ?? `http://${config.SLUICE_HOST}:${config.SLUICE_PORT}`).replace(/\/$/, '');
}

import { createHmac } from 'node:crypto';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
} from 'openid-client';
import type { Deps } from '#api/deps.ts';
import { PROVIDER_CALLBACK } from '#api/clients/provider-callback.ts';
import { ServiceError } from '#shared/core/errors.ts';

/** The console waits five seconds for all that a sign-in asks for. */
const TIMEOUT_SECONDS = 2;
/** Endpoints that a provider moves are followed within the hour; its keys are, by the library, within five minutes. */
const KNOWN_MS = 3_600_000;
const AGAIN_MS = 60_000;
/** Metadata, keys and tokens with hundreds of groups are tens of kilobytes; what is longer is an accident or an attack. */
const LARGEST_BYTES = 1_000_000;
/** What OpenID Connect allows a subject to be (Core, 2), and what the database keeps. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** What only this sign-in knows: `state` travels by the provider, `browser` stays in a cookie. */
export interface SignInSecrets {
  state: string;
  browser: string;
}

/** Who a provider says that somebody is. */
export interface Claimed {
  issuer: string;
  subject: string;
  /** Null where the provider does not say that it verified it. */
  email: string | null;
  claims: Readonly<Record<string, unknown>>;
}

/** An OpenID Connect provider, by its authorization code flow with PKCE. */
export interface IdentityProvider {
  issuer: string;
  /** Where a browser is sent. @throws service_unavailable */
  authorizationUrl(secrets: SignInSecrets): Promise<string>;
  /** Proves who came back, by the query that they came with. @throws forbidden for what proves nothing; service_unavailable */
  redeem(query: string, secrets: SignInSecrets): Promise<Claimed>;
}

/** Opens the provider of the configuration; undefined where there is none. */
export function openIdentityProvider({ config, log }: Pick<Deps, 'config' | 'log'>): IdentityProvider | undefined {
  const { SLUICE_OIDC_ISSUER: issuer, SLUICE_OIDC_CLIENT_ID: id, SLUICE_OIDC_CLIENT_SECRET: secret, SLUICE_OIDC_SCOPES: scope } = config;
  if (issuer === undefined || id === undefined || secret === undefined) return undefined;
  const redirectUri = new URL(PROVIDER_CALLBACK, config.SLUICE_CONSOLE_URL).href;
  const discover = (): Promise<Configuration> =>
    discovery(new URL(issuer), id, undefined, ClientSecretPost(secret), {
      timeout: TIMEOUT_SECONDS,
      [customFetch]: reached,
      // Signatures are checked although the token comes from the provider itself; plain http is for a machine of one's own (config).
      execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
    });
  let found: { configuration: Promise<Configuration>; until: number } | undefined;
  // One that does not answer is asked again the next time; who was known before stays known for a minute.
  const known = (): Promise<Configuration> => {
    const before = found;
    if (before !== undefined && Date.now() < before.until) return before.configuration;
    const configuration = discover().catch((error: unknown) => {
      found = before && { ...before, until: Date.now() + AGAIN_MS };
      if (before === undefined) throw error;
      log.warn({ err: error }, 'the identity provider does not tell of itself; what it told before is used');
      return before.configuration;
    });
    found = { configuration, until: Date.now() + KNOWN_MS };
    return configuration;
  };
  const refused = (error: unknown): never => {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ServiceError) throw cause;
    log.warn({ err: error }, 'an answer of the identity provider was refused');
    throw new ServiceError('forbidden', { message: 'The provider did not prove who this is.' });
  };
  return {
    issuer,
    authorizationUrl: async (secrets) => {
      const configuration = await known().catch((error: unknown) => {
        log.error({ err: error }, 'the identity provider cannot be asked');
        throw new ServiceError('service_unavailable', { retryAfterSeconds: 1, cause: error });
      });
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope,
        state: secrets.state,
        nonce: derived(secrets, 'nonce'),
        code_challenge: await calculatePKCECodeChallenge(derived(secrets, 'verifier')),
        code_challenge_method: 'S256',
      });
      return url.href;
    },
    redeem: async (query, secrets) => {
      const answer = await known()
        .then((configuration) =>
          authorizationCodeGrant(configuration, new URL(`?${new URLSearchParams(query)}`, redirectUri), {
            expectedState: secrets.state,
            expectedNonce: derived(secrets, 'nonce'),
            pkceCodeVerifier: derived(secrets, 'verifier'),
            idTokenExpected: true,
          }),
        )
        .catch(refused);
      const claims = answer.claims();
      if (claims === undefined) return refused(new Error('no ID token'));
      if (!SUBJECT.test(claims.sub)) return refused(new Error('the subject is none'));
      const believed = verifiedOnly(claims);
      return { issuer: claims.iss, subject: claims.sub, email: typeof believed.email === 'string' ? believed.email : null, claims: believed };
    },
  };
}

/** Both halves make it, so that neither the database nor the provider knows it before it is sent. Pure. */
function derived({ state, browser }: SignInSecrets, what: 'nonce' | 'verifier'): string {
  return createHmac('sha256', browser).update(`${what}:${state}`).digest('base64url');
}

/** Claims without the address and the number that the provider does not say it verified: at many of them people write their own. Pure. */
function verifiedOnly({ email, phone_number, ...claims }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...claims, ...(claims.email_verified === true && { email }), ...(claims.phone_number_verified === true && { phone_number }) };
}

/** A provider that cannot be reached, stalls, pours without end, or says that it is broken, proves nothing against anybody. */
async function reached(url: string, options: object): Promise<Response> {
  const unavailable = (error: unknown): never => {
    throw new ServiceError('service_unavailable', { retryAfterSeconds: 1, cause: error });
  };
  const answer = await fetch(url, options).catch(unavailable);
  if (answer.status >= 500) throw new ServiceError('service_unavailable', { retryAfterSeconds: 1 });
  const body = await bytesOf(answer).catch(unavailable);
  return new Response(body, { status: answer.status, headers: answer.headers });
}

/** The body, or null for an empty one, which some statuses must have. @throws Error for one that is too long */
async function bytesOf({ body }: Response): Promise<Buffer<ArrayBuffer> | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early hangs up.
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > LARGEST_BYTES) throw new Error('the answer is too long');
    parts.push(part);
  }
  return length === 0 ? null : Buffer.concat(parts);
}

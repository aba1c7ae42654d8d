import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { isMoney } from '#shared/core/money.ts';
import { parseUrl } from '#shared/core/parse-url.ts';
import { POLICY } from '#shared/core/policy.ts';
import { isIpRange } from './ip.ts';
import { networkProblems } from './network-problems.ts';
import { packageRoot } from './package-root.ts';
import { providerRules } from './provider-rules.ts';
import { secretFileProblem } from './secret-file.ts';
import { publicHalf, trustedKeys } from './statements.ts';

const money = z.string().refine(isMoney, 'must be a money string');
const wallet = z.strictObject({ address: z.string(), path: z.string() });
const limits = { perTransactionUsd: money, hourlyUsd: money, dailyUsd: money };
const satPerVbyte = z.string().regex(/^\d{1,6}(\.\d{1,3})?$/, 'must be satoshis per virtual byte, with up to three decimal places');
const rule = z.union([z.strictObject({ blocks: z.int().min(1) }), z.strictObject({ tag: z.enum(['safe', 'finalized']) })]);
const networkSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{1,31}$/),
  family: z.enum(['evm', 'tron', 'bitcoin']),
  chainId: z.string(),
  nativeSymbol: z.string(),
  rpcUrls: z.array(z.url()),
  headUrl: z.url({ protocol: /^wss?$/ }).exactOptional(),
  finality: z.strictObject({
    resolve: z.array(z.strictObject({ upToUsd: money.exactOptional(), rule, mature: rule.exactOptional() })).min(1),
    mature: rule,
  }),
  coinLogs: z.boolean().exactOptional(),
  acceptsUnseenInternalTransfers: z.boolean().exactOptional(),
  catchUpByLogs: z.boolean().exactOptional(),
  secondOpinionUsd: money.exactOptional(),
  blockSeconds: z.number().positive(),
  accountXpub: z.string(),
  accountFingerprint: z.string().regex(/^[0-9a-f]{8}$/),
  accountPath: z.string(),
  wallets: z.strictObject({ hot: wallet, funding: wallet, held: wallet }),
  cold: z.strictObject({ address: z.string() }).exactOptional(),
  explorerTxUrl: z.string().includes('{txHash}'),
  limits: z.strictObject({
    ...limits,
    native: z.strictObject(limits).exactOptional(),
    tokens: z.strictObject(limits).exactOptional(),
    dailyFeeExpenseUsd: money.exactOptional(),
  }),
  deathWitnesses: z.int().min(1).max(5).exactOptional(),
  sweeping: z.strictObject({ floorTimesCost: z.number().min(1).exactOptional(), atOnce: z.int().min(0).exactOptional() }).exactOptional(),
  feeRate: z
    .strictObject({
      floor: satPerVbyte.exactOptional(),
      cap: satPerVbyte.exactOptional(),
      fallback: satPerVbyte.exactOptional(),
      targetBlocks: z.int().min(1).max(1_008).exactOptional(),
    })
    .exactOptional(),
  consolidation: z
    .strictObject({ aboveOutputs: z.int().min(1).exactOptional(), belowFeeRate: satPerVbyte.exactOptional(), dailyUsd: money.exactOptional() })
    .exactOptional(),
  assets: z
    .array(
      z.strictObject({
        symbol: z.string().regex(/^[A-Z0-9.]{1,16}$/),
        name: z.string(),
        type: z.enum(['NATIVE', 'ERC20', 'TRC20', 'BEP20']),
        contract: z.string().nullable(),
        decimals: z.int().min(0).max(18),
        networkFee: money,
        dustFloor: money,
        quoteDecimals: z.int().min(0).max(18).exactOptional(),
        minimumSettlement: money.nullable(),
        caps: z.strictObject({ perTransaction: money, hourly: money, daily: money, floorUsd: money }).exactOptional(),
        coldStorage: z.strictObject({ ceiling: money, floor: money }).exactOptional(),
      }),
    )
    .min(1),
});
const networksFile = z.strictObject({ networks: z.array(networkSchema).min(1) });

/**
 * The signer's seed on local chains, known to the whole world: a test vector of BIP-39. The account key, fingerprint and
 * wallet addresses in ops/dev/networks.json are derived from it; production refuses it.
 */
export const DEMO_SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

/** Fingerprints of that seed's accounts, EVM, TRON and Bitcoin (mainnet, then test networks): what is paid to an address below them belongs to everybody. */
const DEMO_ACCOUNTS = ['754a2fe4', '6929f451', '7ecc0e6f', '65f48bca'];

/** What keys of demos that sign what the http role accepts begin with: a demo makes its own, and production refuses all of them. */
export const DEMO_INTENT_KEY = 'dec0dedec0de';
/** The private key of the first test of RFC 8032, known to the whole world as well. */
const WELL_KNOWN_INTENT_KEY = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';

export const ROLES = ['http', 'worker', 'signer', 'console'] as const;
export type Role = (typeof ROLES)[number];
/** What one process does that is told nothing else; the console is always one of its own. */
export const DEFAULT_ROLES: readonly Role[] = ['http', 'worker', 'signer'];

const flag = z.enum(['0', '1', 'false', 'true']).transform((text) => text === '1' || text === 'true');
const port = z.coerce.number().int().min(0).max(65_535);
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
const seconds = z.coerce.number().int().min(1).max(86_400);
/** `name=https://…` pairs, comma-separated; trailing slashes are dropped. */
const urlsByName = list.transform((pairs, context) => {
  const urls: Record<string, string> = {};
  for (const pair of pairs) {
    const [, name, url] = /^([a-z0-9-]+)=(https?:\/\/.+)$/.exec(pair) ?? [];
    if (name === undefined || url === undefined || parseUrl(url) === null) context.addIssue(`must be name=URL pairs, which ${pair.slice(0, 60)} is not`);
    else urls[name] = url.replace(/\/+$/, '');
  }
  return urls;
});
const ranges = list.pipe(z.array(z.string().refine(isIpRange, 'must be IP addresses or CIDR ranges')));
/** All, none, or some. */
const flagOrRanges = list.transform((parts, context): boolean | string[] => {
  const [only = ''] = parts;
  if (parts.length === 1 && flag.safeParse(only).success) return flag.parse(only);
  if (parts.length === 0 || !parts.every(isIpRange)) context.addIssue('must be 0, 1, or IP addresses and CIDR ranges separated by commas');
  return parts;
});
/** The page's own paths begin at the root, and browsers say by their `Origin` that they came from it. */
const origin = z.string().refine((text) => {
  const url = /^https?:/i.test(text) ? parseUrl(text) : null;
  return url !== null && url.href === `${url.origin}/`;
}, 'must be an origin such as https://pay.example');
/** Passkeys belong to a name, and browsers keep the cookie only where nobody listens in. */
const consoleOrigin = origin.refine((text) => {
  const url = parseUrl(text);
  if (url === null) return true;
  const { protocol, hostname } = url;
  return hostname === 'localhost' || (protocol === 'https:' && /[a-z]/i.test(hostname) && !hostname.startsWith('['));
}, 'must be https with a name, or http://localhost: passkeys work nowhere else');
const SECRET_LENGTH = 32;
const secret = z.string().min(SECRET_LENGTH, `must be at least ${SECRET_LENGTH} characters`);

/** Somebody who may call the operator API, and the token that proves it. */
export interface NamedToken {
  name: string;
  token: string;
}

/** Name of whoever comes with the token that is shared. */
export const SHARED_OPERATOR = 'operator';

/** While a token is changed its owner has two. */
const TOKENS_PER_PERSON = 2;

/** `name=token` pairs, comma-separated. Problems name people, never what they were given. */
const namedTokens = list.transform((pairs, context): NamedToken[] => {
  const named: NamedToken[] = [];
  for (const [at, pair] of pairs.entries()) {
    const [, name, token] = /^([a-z][a-z0-9._-]{0,31})=(\S+)$/.exec(pair) ?? [];
    if (name === undefined || token === undefined)
      context.addIssue(`must be name=token pairs, which number ${at + 1} is not: names are lower case, up to 32 characters`);
    else if (name === SHARED_OPERATOR) context.addIssue(`${SHARED_OPERATOR} is the name of whoever comes with SLUICE_OPERATOR_TOKEN`);
    else if (token.length < SECRET_LENGTH) context.addIssue(`the token of ${name} must be at least ${SECRET_LENGTH} characters`);
    else if (named.filter((one) => one.name === name).length === TOKENS_PER_PERSON) context.addIssue(`${name} has more than ${TOKENS_PER_PERSON} tokens`);
    else named.push({ name, token });
  }
  return named;
});

/** Half of an Ed25519 key: 32 bytes. */
const key = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits');

/** A moment, in UTC unless it says otherwise. */
const moment = z.iso.datetime({ offset: true, error: 'must be a moment such as 2026-11-30T12:00:00Z' }).transform((text) => new Date(text));

const common = {
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  DATABASE_URL: z.string().min(1),
  REDIS_URL: z.string().min(1),
  SLUICE_NETWORKS: z.string().min(1),
  SLUICE_HOST: z.string().default('127.0.0.1'),
  SLUICE_METRICS_PORT: port.default(0),
  SLUICE_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  SLUICE_CRASH_AT: z.string().optional(),
};

const indexerSchema = z.object({ ...common, SLUICE_STREAM_KEY: secret, SLUICE_INDEXER_NETWORKS: list.default([]) });

const apiSchema = z.object({
  ...common,
  DATABASE_OWNER_URL: z.string().min(1).optional(),
  SLUICE_ROLES: list.pipe(z.array(z.enum(ROLES)).min(1)).default([...DEFAULT_ROLES]),
  SLUICE_PORT: port.default(3000),
  SLUICE_CHECKOUT_PORT: port.default(3001),
  SLUICE_PUBLIC_URL: z.url().optional(),
  SLUICE_CHECKOUT_URL: origin.optional(),
  SLUICE_CONSOLE_PORT: port.default(3002),
  SLUICE_CONSOLE_URL: consoleOrigin.optional(),
  SLUICE_INTERNAL_PORT: port.default(3003),
  SLUICE_INTERNAL_URL: z.url({ protocol: /^https?$/ }).optional(),
  SLUICE_INTERNAL_KEY: secret.optional(),
  SLUICE_INTERNAL_KEY_PREVIOUS: secret.optional(),
  SLUICE_OIDC_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  SLUICE_OIDC_CLIENT_ID: z.string().min(1).optional(),
  SLUICE_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  SLUICE_OIDC_SCOPES: z.string().includes('openid').default('openid email profile'),
  SLUICE_OIDC_RULES: providerRules.default([]),
  SLUICE_OIDC_NAME: z.string().min(1).max(40).optional(),
  SLUICE_STREAM_KEY: secret.optional(),
  SLUICE_STREAM_KEY_PREVIOUS: secret.optional(),
  SLUICE_API_KEY_PEPPER: secret.optional(),
  SLUICE_API_KEY_PEPPER_NEXT: secret.optional(),
  SLUICE_API_KEY_PEPPER_PREVIOUS: secret.optional(),
  SLUICE_OPERATOR_TOKEN: secret.optional(),
  SLUICE_OPERATOR_TOKEN_PREVIOUS: secret.optional(),
  SLUICE_OPERATOR_TOKENS: namedTokens.default([]),
  SLUICE_TWO_PEOPLE_FOR: list.pipe(z.array(z.enum(['refund', 'reject']))).default([]),
  SLUICE_MASTER_KEY: secret.optional(),
  SLUICE_MASTER_KEY_NEXT: secret.optional(),
  SLUICE_MASTER_KEY_PREVIOUS: secret.optional(),
  SLUICE_INTENT_KEY: key.optional(),
  SLUICE_INTENT_PUBLIC_KEYS: list.pipe(z.array(key)).default([]),
  SLUICE_INTENT_ADOPT_BEFORE: moment.optional(),
  SLUICE_SIGNER_SEED: z.string().optional(),
  SLUICE_SIGNER_JOURNAL: z.string().min(1).optional(),
  SLUICE_PRICE_SOURCE: z.enum(['static', 'http']).default('static'),
  SLUICE_PRICE_PROVIDERS: list.default([]),
  SLUICE_PRICE_PROVIDER_URLS: urlsByName.default({}),
  SLUICE_PRICE_POLL_SECONDS: seconds.default(POLICY.pricePollSeconds),
  SLUICE_PRICE_FRESH_SECONDS: seconds.default(POLICY.priceFreshSeconds),
  SLUICE_SCREENING_LIST: z.string().optional(),
  SLUICE_SCREENING_PROVIDER: z.string().optional(),
  SLUICE_SCREENING_URL: z.url({ protocol: /^https?$/ }).optional(),
  SLUICE_SCREENING_ACCESS_ID: z.string().optional(),
  SLUICE_SCREENING_ACCESS_KEY: z.string().optional(),
  SLUICE_PRIVATE_WEBHOOK_TARGETS: flagOrRanges.optional(),
  SLUICE_SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be smtp://… or smtps://…' }).optional(),
  SLUICE_MAIL_FROM: z.email('must be an e-mail address').default('sluice@localhost.localdomain'),
  // Not where whoever starts it happens to be: mail would lie in as many places.
  SLUICE_MAIL_DIR: z
    .string()
    .min(1)
    .default('.sluice/mail')
    .transform((folder) => resolve(packageRoot(), folder)),
  SLUICE_TRUSTED_PROXIES: ranges.default([]),
  SLUICE_DOCS_TRY_IT: z.enum(['on', 'off'], 'must be on or off').default('on'),
  SLUICE_CANARY_URL: z.url({ protocol: /^https?$/ }).optional(),
  SLUICE_CANARY_KEY_FILE: z.string().min(1).optional(),
  SLUICE_RATE_LIMIT_SCALE: z.coerce.number().positive().default(1),
});

export type IndexerConfig = z.output<typeof indexerSchema> & { networks: NetworkConfig[] };
export type ApiConfig = z.output<typeof apiSchema> & { networks: NetworkConfig[]; privateWebhookTargets: boolean | readonly string[] };

/** A configuration that cannot be used, with every problem found; shown in full at start. */
export class ConfigError extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(`configuration:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Environment = Record<string, string | undefined>;

const SEED_ELSEWHERE = 'SLUICE_SIGNER_SEED: only the signer role may have it; remove it from this process';
const INTENT_KEY_ELSEWHERE = 'SLUICE_INTENT_KEY: only the http role may have it; remove it from this process';

/** Reads what an indexer process needs. @throws ConfigError listing every problem at once */
export function readIndexerConfig(env: Environment): IndexerConfig {
  const problems: string[] = [];
  const values = parse(indexerSchema, env, problems);
  if (env.SLUICE_SIGNER_SEED || env.SLUICE_SIGNER_SEED_FILE) problems.push(SEED_ELSEWHERE);
  if (env.SLUICE_INTENT_KEY || env.SLUICE_INTENT_KEY_FILE) problems.push(INTENT_KEY_ELSEWHERE);
  const networks = readNetworks(values?.SLUICE_NETWORKS, problems);
  problems.push(...nodeProblems(networks ?? []));
  if (values && networks) {
    for (const name of values.SLUICE_INDEXER_NETWORKS)
      if (!networks.some((network) => network.name === name)) problems.push(`SLUICE_INDEXER_NETWORKS: no network named ${name}`);
    if (values.NODE_ENV === 'production' && values.SLUICE_CRASH_AT !== undefined) problems.push('SLUICE_CRASH_AT: refused in production');
    if (values.NODE_ENV === 'production' && values.SLUICE_STREAM_KEY.includes('demo'))
      problems.push('SLUICE_STREAM_KEY: the demo secret is refused in production');
    if (values.NODE_ENV === 'production') problems.push(...demoAccountProblems(networks));
  }
  if (problems.length > 0 || !values || !networks) throw new ConfigError(problems);
  const served = values.SLUICE_INDEXER_NETWORKS;
  return { ...values, networks: served.length === 0 ? networks : networks.filter((network) => served.includes(network.name)) };
}

/** Reads what an api process needs for its roles. @throws ConfigError listing every problem at once */
export function readApiConfig(env: Environment): ApiConfig {
  const problems: string[] = [];
  const values = parse(apiSchema, env, problems);
  const networks = readNetworks(values?.SLUICE_NETWORKS, problems);
  if (values) {
    const signs = values.SLUICE_ROLES.includes('signer');
    if (signs && values.SLUICE_SIGNER_SEED === undefined) problems.push('SLUICE_SIGNER_SEED: required by the signer role');
    if (signs && values.SLUICE_SIGNER_JOURNAL === undefined) problems.push('SLUICE_SIGNER_JOURNAL: required by the signer role: the folder of its journal');
    if (!signs && values.SLUICE_SIGNER_SEED !== undefined) problems.push(SEED_ELSEWHERE);
    problems.push(...roleProblems(values));
    if (!values.SLUICE_ROLES.includes('console')) problems.push(...nodeProblems(networks ?? []));
    else if (values.NODE_ENV === 'production') problems.push(...keptFromConsole(networks ?? []));
    // A quote counts for two rounds, and a price must still be usable when the next round is late.
    if (values.SLUICE_PRICE_FRESH_SECONDS < 4 * values.SLUICE_PRICE_POLL_SECONDS)
      problems.push('SLUICE_PRICE_FRESH_SECONDS: must be at least four times SLUICE_PRICE_POLL_SECONDS');
    if ((values.SLUICE_CANARY_URL === undefined) !== (values.SLUICE_CANARY_KEY_FILE === undefined))
      problems.push('SLUICE_CANARY_URL and SLUICE_CANARY_KEY_FILE: the canary needs both, or neither');
    problems.push(...ringProblems(values), ...personProblems(values));
    if (values.NODE_ENV === 'production') problems.push(...productionProblems(values), ...demoAccountProblems(networks ?? []));
    if (values.NODE_ENV === 'production' && signs) problems.push(...seedFileProblems(env, values), ...signerProblems(networks ?? []));
  }
  if (problems.length > 0 || !values || !networks) throw new ConfigError(problems);
  return { ...values, networks, privateWebhookTargets: values.SLUICE_PRIVATE_WEBHOOK_TARGETS ?? values.NODE_ENV !== 'production' };
}

const SECRETS = ['SLUICE_STREAM_KEY', 'SLUICE_API_KEY_PEPPER', 'SLUICE_OPERATOR_TOKEN', 'SLUICE_MASTER_KEY'] as const;

/** Secrets of the api by the roles that need them; a signer by itself is refused what it does not need, because whoever takes it over would have it. */
const NEEDED: Readonly<Record<(typeof SECRETS)[number], readonly Role[]>> = {
  SLUICE_STREAM_KEY: ['http', 'worker'],
  SLUICE_API_KEY_PEPPER: ['http'],
  SLUICE_OPERATOR_TOKEN: ['http'],
  SLUICE_MASTER_KEY: ['http', 'worker'],
};

/** What a role lacks, and what it must not have. */
function roleProblems(values: z.output<typeof apiSchema>): string[] {
  const roles = values.SLUICE_ROLES;
  const problems: string[] = [];
  const onlySigns = roles.every((role) => role === 'signer');
  const alone = roles.includes('console') ? 'console' : 'signer';
  for (const name of SECRETS) {
    const by = roles.find((role) => NEEDED[name].includes(role));
    if (by !== undefined && values[name] === undefined) problems.push(`${name}: required by the ${by} role`);
    const held = [values[name], values[`${name}_NEXT` as keyof typeof values], values[`${name}_PREVIOUS` as keyof typeof values]];
    if ((onlySigns || alone === 'console') && held.some((one) => one !== undefined))
      problems.push(`${name}: the ${alone} by itself does without; remove it from this process`);
  }
  if ((onlySigns || alone === 'console') && values.SLUICE_OPERATOR_TOKENS.length > 0)
    problems.push(`SLUICE_OPERATOR_TOKENS: the ${alone} by itself does without; remove them from this process`);
  problems.push(...consoleProblems(values), ...providerProblems(values));
  const accepts = roles.includes('http');
  const people = new Set(values.SLUICE_OPERATOR_TOKENS.map(({ name }) => name));
  if (accepts && values.SLUICE_TWO_PEOPLE_FOR.length > 0 && people.size < 2)
    problems.push('SLUICE_TWO_PEOPLE_FOR: two people need tokens of their own in SLUICE_OPERATOR_TOKENS');
  if (accepts && values.SLUICE_INTENT_KEY === undefined) problems.push('SLUICE_INTENT_KEY: required by the http role');
  if (!accepts && values.SLUICE_INTENT_KEY !== undefined) problems.push(INTENT_KEY_ELSEWHERE);
  if (!accepts && alone !== 'console' && values.SLUICE_INTENT_PUBLIC_KEYS.length === 0)
    problems.push('SLUICE_INTENT_PUBLIC_KEYS: required by the worker and signer roles; npx sluice secret generate makes a key of either half');
  return problems;
}

/** The console is a process of its own, which a stranger may come to hold: it has no secret but the key that it is known by to the http role (decision 0064). */
function consoleProblems(values: z.output<typeof apiSchema>): string[] {
  const { SLUICE_ROLES: roles, SLUICE_CONSOLE_URL: place, SLUICE_INTERNAL_KEY: key, SLUICE_INTERNAL_KEY_PREVIOUS: before, SLUICE_INTERNAL_URL: http } = values;
  if (roles.includes('http') && place !== undefined && key === undefined)
    return ['SLUICE_INTERNAL_KEY: required by the http role where there is a console: what the console comes with'];
  // Whoever may ask who people are must not be an operator by it, nor hold what opens anything.
  const keys = (['SLUICE_INTERNAL_KEY', 'SLUICE_INTERNAL_KEY_PREVIOUS'] as const).filter((name) => values[name] !== undefined);
  const shared = keys.filter((name) => SECRETS.some((other) => values[other] === values[name]));
  if (roles.includes('http') && shared.length > 0) return shared.map((name) => `${name}: must be one that is used for nothing else`);
  if (!roles.includes('console')) return [];
  return [
    ...(roles.length > 1 ? ['SLUICE_ROLES: the console is a process of its own, which holds no secret: name console alone'] : []),
    ...(place === undefined ? ['SLUICE_CONSOLE_URL: required by the console role: where people reach it'] : []),
    ...(before === undefined ? [] : ['SLUICE_INTERNAL_KEY_PREVIOUS: the console comes with one key; remove it from this process']),
    ...(key === undefined ? ['SLUICE_INTERNAL_KEY: required by the console role: the same as that of the http role'] : []),
    ...(http === undefined ? ['SLUICE_INTERNAL_URL: required by the console role: where the http role listens for it, at SLUICE_INTERNAL_PORT'] : []),
  ];
}

/** Who a provider says people are, the http role alone asks; the console knows what the provider is called, and no secret of it. */
function providerProblems(values: z.output<typeof apiSchema>): string[] {
  const { SLUICE_OIDC_ISSUER: issuer, SLUICE_OIDC_CLIENT_ID: id, SLUICE_OIDC_CLIENT_SECRET: secret, SLUICE_CONSOLE_URL: place } = values;
  if (!values.SLUICE_ROLES.includes('http'))
    return secret === undefined ? [] : ['SLUICE_OIDC_CLIENT_SECRET: only the http role may have it; remove it from this process'];
  const given = [issuer, id, secret].filter((one) => one !== undefined).length;
  const { protocol, hostname } = new URL(issuer ?? 'https://none');
  return [
    ...(given === 1 || given === 2 ? ['SLUICE_OIDC_ISSUER, SLUICE_OIDC_CLIENT_ID, SLUICE_OIDC_CLIENT_SECRET: a provider needs all three'] : []),
    ...(given > 0 && place === undefined ? ['SLUICE_CONSOLE_URL: required by the http role where a provider signs people in'] : []),
    // Whoever is between could say who anybody is.
    ...(protocol === 'http:' && (values.NODE_ENV === 'production' || !['localhost', '127.0.0.1'].includes(hostname))
      ? ['SLUICE_OIDC_ISSUER: must be https']
      : []),
  ];
}

/** Keys that take each other's place must differ: the same one twice is a change that never happened. */
function ringProblems(values: z.output<typeof apiSchema>): string[] {
  return [...SECRETS, 'SLUICE_INTERNAL_KEY' as const].flatMap((name) =>
    ([`${name}_NEXT`, `${name}_PREVIOUS`] as (keyof typeof values)[])
      .filter((other) => values[name] !== undefined && values[other] === values[name])
      .map((other) => `${other}: must be another one than ${name}`),
  );
}

/** A token that is somebody else's as well, or another secret, would make two people of one. */
function personProblems(values: z.output<typeof apiSchema>): string[] {
  const others: unknown[] = [values.SLUICE_INTERNAL_KEY, values.SLUICE_INTERNAL_KEY_PREVIOUS];
  for (const name of SECRETS) others.push(values[name], values[`${name}_NEXT` as keyof typeof values], values[`${name}_PREVIOUS` as keyof typeof values]);
  const tokens = values.SLUICE_OPERATOR_TOKENS;
  return tokens
    .filter(({ token }, at) => others.includes(token) || tokens.findIndex((one) => one.token === token) !== at)
    .map(({ name }) => `SLUICE_OPERATOR_TOKENS: the token of ${name} must be one that is used for nothing else`);
}

function productionProblems(values: z.output<typeof apiSchema>): string[] {
  const problems: string[] = [];
  for (const name of [...SECRETS, 'SLUICE_INTERNAL_KEY'] as const)
    if (values[name]?.includes('demo')) problems.push(`${name}: the demo secret is refused in production`);
  for (const { name, token } of values.SLUICE_OPERATOR_TOKENS)
    if (token.includes('demo')) problems.push(`SLUICE_OPERATOR_TOKENS: the demo token of ${name} is refused in production`);
  const { SLUICE_INTENT_KEY: own } = values;
  if (own?.startsWith(DEMO_INTENT_KEY)) problems.push('SLUICE_INTENT_KEY: the demo key is refused in production');
  if (trustedKeys(values).includes(publicHalf(WELL_KNOWN_INTENT_KEY)))
    problems.push('SLUICE_INTENT_KEY, SLUICE_INTENT_PUBLIC_KEYS: a key that is known to everybody is refused in production');
  if (values.SLUICE_SIGNER_SEED === DEMO_SEED) problems.push('SLUICE_SIGNER_SEED: the demo seed is refused in production');
  if (values.SLUICE_PRICE_SOURCE === 'static') problems.push('SLUICE_PRICE_SOURCE: static prices are refused in production');
  if (values.SLUICE_SCREENING_PROVIDER === 'development') problems.push('SLUICE_SCREENING_PROVIDER: the development source is refused in production');
  // What answers there may clear anybody.
  if (values.SLUICE_SCREENING_URL?.startsWith('http:')) problems.push('SLUICE_SCREENING_URL: must be https in production');
  if (values.SLUICE_CRASH_AT !== undefined) problems.push('SLUICE_CRASH_AT: refused in production');
  return problems;
}

/** Whoever reads the seed has all coins, now and for ever: a file that lets others is not started with (decision 0043). */
function seedFileProblems(
  { SLUICE_SIGNER_SEED: given, SLUICE_SIGNER_SEED_FILE: path }: Environment,
  read: { SLUICE_SIGNER_SEED?: string | undefined },
): string[] {
  // One that could not be read is a problem already.
  if (given || !path || read.SLUICE_SIGNER_SEED === undefined) return [];
  const problem = secretFileProblem(path);
  return problem === null ? [] : [`SLUICE_SIGNER_SEED_FILE: ${path} ${problem}`];
}

/** What bounds the signer whatever stands in the database (decisions 10). */
function signerProblems(networks: readonly NetworkConfig[]): string[] {
  return networks.flatMap(({ name, assets, deathWitnesses = POLICY.deathWitnesses }) => [
    ...assets.filter(({ caps }) => caps === undefined).map(({ symbol }) => `SLUICE_NETWORKS: ${name}.${symbol}.caps: required by the signer in production`),
    ...(deathWitnesses < POLICY.deathWitnesses ? [`SLUICE_NETWORKS: ${name}.deathWitnesses: at least ${POLICY.deathWitnesses} in production`] : []),
  ]);
}

/** Whoever works with a chain asks at least one node of it. */
function nodeProblems(networks: readonly NetworkConfig[]): string[] {
  return networks.filter(({ rpcUrls }) => rpcUrls.length === 0).map(({ name }) => `SLUICE_NETWORKS: ${name}.rpcUrls: must name at least one node`);
}

/** The console asks no node, and whoever came to hold it would have the keys that stand in these URLs. */
function keptFromConsole(networks: readonly NetworkConfig[]): string[] {
  return networks
    .filter(({ rpcUrls, headUrl }) => rpcUrls.length > 0 || headUrl !== undefined)
    .map(({ name }) => `SLUICE_NETWORKS: ${name}.rpcUrls: the console by itself does without; give it the file that npx sluice secret networks prints`);
}

function demoAccountProblems(networks: readonly NetworkConfig[]): string[] {
  const demo = networks.filter((network) => DEMO_ACCOUNTS.includes(network.accountFingerprint));
  return demo.map(({ name }) => `SLUICE_NETWORKS: ${name}.accountXpub: the demo account is refused in production`);
}

/** Every variable may instead be given as a file path in `<NAME>_FILE`. */
function parse<S extends z.ZodObject>(schema: S, env: Environment, problems: string[]): z.output<S> | undefined {
  const given: Environment = {};
  for (const name of Object.keys(schema.shape)) {
    const file = env[`${name}_FILE`];
    const value = env[name];
    if (value !== undefined && value !== '') given[name] = value;
    else if (file !== undefined) {
      try {
        given[name] = readFileSync(file, 'utf8').trim();
      } catch {
        problems.push(`${name}_FILE: cannot read ${file}`);
      }
    }
  }
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  for (const issue of result.error.issues)
    problems.push(`${issue.path.join('.')}: ${given[String(issue.path[0])] === undefined ? 'is required' : issue.message}`);
  return undefined;
}

/** Reads a networks file alone. @throws ConfigError listing every problem at once */
export function readNetworksFile(path: string): NetworkConfig[] {
  const problems: string[] = [];
  const networks = readNetworks(path, problems);
  problems.push(...nodeProblems(networks ?? []));
  if (networks === undefined || problems.length > 0) throw new ConfigError(problems);
  return networks;
}

function readNetworks(path: string | undefined, problems: string[]): NetworkConfig[] | undefined {
  if (path === undefined) return undefined;
  let text: unknown;
  try {
    text = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    problems.push(`SLUICE_NETWORKS: ${(error as Error).message}`);
    return undefined;
  }
  const result = networksFile.safeParse(text);
  if (!result.success) {
    for (const issue of result.error.issues) problems.push(`SLUICE_NETWORKS: ${issue.path.join('.')}: ${issue.message}`);
    return undefined;
  }
  const mistakes = networkProblems(result.data.networks);
  problems.push(...mistakes.map((mistake) => `SLUICE_NETWORKS: ${mistake}`));
  return mistakes.length > 0 ? undefined : result.data.networks;
}

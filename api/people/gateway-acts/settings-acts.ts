import { createHash } from 'node:crypto';
import * as z from 'zod';
import { agreeToPolicies, declinePolicies, findWaiting, proposePolicies } from '#api/gateways/change-policies.ts';
import { readPolicyBook } from '#api/gateways/read-policies.ts';
import type { PolicyBook } from '#shared/core/written-policies.ts';
import { readLogoImage } from '#api/gateways/logo-image.ts';
import { changeLogo, changeOwnSettings } from '#api/gateways/change-settings.ts';
import { readSettingsChange, type SettingsChange } from '#api/gateways/owner-settings.ts';
import { changeInWords } from '#api/gateways/written-setting.ts';
import { invalid } from '#shared/core/errors.ts';
import { isMoney } from '#shared/core/money.ts';
import type { GatewayActName } from '../act-names.ts';
import { act, inOne, type GatewayAct } from './gateway-act.ts';

/** The gateway's cap as the form showed it; absent for none. */
const capNow = z.string().max(40).refine(isMoney, 'must be a decimal string such as "10000"').optional();
const ofVersion = z.strictObject({ version: z.string().regex(/^[1-9][0-9]{0,8}$/) });

/** @throws validation_error naming what is at fault */
function bookOf(text: string): PolicyBook {
  try {
    return readPolicyBook(JSON.parse(text));
  } catch (error) {
    throw error instanceof SyntaxError ? invalid('book', 'must be JSON') : error;
  }
}

/** What is signed of policies: each as it is written, by its place, and the cap before and after. */
function bookWords({ policies, capUsd }: PolicyBook, before: string | null): Record<string, string | null> {
  return { ...Object.fromEntries(policies.map((policy, at) => [`policy ${at + 1}`, JSON.stringify(policy)])), capBefore: before, capUsd };
}

function beforeAndAfter(change: SettingsChange): { before: object; after: object } {
  const side = (at: 0 | 1): object => Object.fromEntries(Object.entries(change).map(([name, pair]) => [name, pair[at]]));
  return { before: side(0), after: side(1) };
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** @throws validation_error for what is no logo */
function logoOf(image: string): { hash: string; type: string; body: Buffer } {
  const body = Buffer.from(image, 'base64');
  const { type } = readLogoImage(body);
  return { hash: createHash('sha256').update(body).digest('hex'), type, body };
}

/** Acts on what a gateway is set to. */
export const SETTINGS_ACTS = {
  'policies-propose': act({
    permission: 'settings:write',
    fields: z.strictObject({ book: z.string().max(16_384), capNow }),
    target: () => 'policies',
    // The whole of them, in the order in which they decide.
    agreed: async (_deps, { fields: { book, capNow: before = null } }) => bookWords(bookOf(book), before),
    run: async (_deps, { gateway, fields: { book, capNow: before = null }, personId, commit }) =>
      inOne(commit, (tx) => proposePolicies(tx, { gateway, personId, book: bookOf(book), capNow: before })),
  }),
  'policies-agree': act({
    permission: 'settings:write',
    fields: ofVersion.extend({ capNow }),
    target: ({ version }) => version,
    agreed: async (deps, { gateway, fields: { version, capNow: before = null } }) => {
      const { policies, capUsd } = await findWaiting(deps.db.sql, gateway.id, Number(version));
      return bookWords(readPolicyBook({ policies, capUsd }), before);
    },
    run: async (_deps, { gateway, fields: { version, capNow: before = null }, personId, commit }) =>
      inOne(commit, (tx) => agreeToPolicies(tx, { gateway, personId, version: Number(version), capNow: before })),
  }),
  'policies-decline': act({
    permission: 'settings:write',
    fields: ofVersion,
    target: ({ version }) => version,
    run: async (_deps, { gateway, fields: { version }, personId, commit }) =>
      inOne(commit, (tx) => declinePolicies(tx, { gateway, personId, version: Number(version) })),
  }),
  'settings-change': act({
    permission: 'settings:write',
    fields: z.strictObject({ change: z.string().max(16_384) }),
    target: () => 'settings',
    agreed: async (_deps, { fields: { change } }) => changeInWords(readSettingsChange(change)),
    noted: ({ change }) => beforeAndAfter(readSettingsChange(change)),
    run: async (_deps, { gateway, fields: { change }, commit }) =>
      inOne(commit, (tx) => changeOwnSettings(tx, { gateway, change: readSettingsChange(change) })),
  }),
  'logo-change': act({
    permission: 'settings:write',
    fields: z.strictObject({ image: z.base64().max(16_384), seen: hash.optional() }),
    target: () => 'logo',
    agreed: async (_deps, { fields: { image, seen = null } }) => {
      const { hash: logo, type } = logoOf(image);
      return { before: seen, logo, type };
    },
    run: async (_deps, { gateway, fields: { image, seen = null }, commit }) => inOne(commit, (tx) => changeLogo(tx, { gateway, seen, logo: logoOf(image) })),
  }),
  'logo-remove': act({
    permission: 'settings:write',
    fields: z.strictObject({ seen: hash }),
    target: () => 'logo',
    agreed: async (_deps, { fields: { seen } }) => ({ before: seen, logo: null }),
    run: async (_deps, { gateway, fields: { seen }, commit }) => inOne(commit, (tx) => changeLogo(tx, { gateway, seen, logo: null })),
  }),
} satisfies Partial<Record<GatewayActName, GatewayAct<unknown>>>;

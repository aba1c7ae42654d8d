import * as z from 'zod';
import { PERMISSIONS } from '#api/gateways/keys.ts';
import { addToAllowlist, removeFromAllowlist } from '#api/gateways/change-allowlist.ts';
import { changeKey, createKey, revokeKey } from '#api/gateways/manage-keys.ts';
import { endOverlap, newSecret, rollSecret } from '#api/gateways/secrets.ts';
import { invalid } from '#shared/core/errors.ts';
import type { GatewayActName } from '../act-names.ts';
import { act, inOne, nothing, type GatewayAct } from './gateway-act.ts';

/** A key as a form asks for it: each permission is a box of its own, such as `may:payment:read`. */
const newKey = z
  .strictObject({ name: z.string().max(200), ends: z.iso.date().optional(), allowlist: z.string().max(4_000).optional() })
  .extend(Object.fromEntries(PERMISSIONS.map((one) => [`may:${one}`, z.literal('on').optional()]))) as unknown as z.ZodType<NewKey>;
type NewKey = { name: string; ends?: string; allowlist?: string } & { [Box in `may:${(typeof PERMISSIONS)[number]}`]?: 'on' };

/** What narrows a key, as a form showed it. */
const seenLimits = z.strictObject({ name: z.string().nullable(), expiresAt: z.string().nullable(), allowlist: z.array(z.string()).nullable() });
type SeenLimits = z.infer<typeof seenLimits>;

const SECRETS = ['webhook', 'cashout'] as const;
/** How long the secret before counts on, as a form offers it. */
const OVERLAPS = ['0', '3600', '86400'] as const;

function keyOf({ name, ends, allowlist, ...boxes }: NewKey) {
  return { permissions: PERMISSIONS.filter((one) => boxes[`may:${one}`] === 'on'), ...limitsOf({ name, ends, allowlist }) };
}

/** What a form showed of a key. @throws validation_error for what no form shows */
function seenOf(text: string): SeenLimits {
  try {
    return seenLimits.parse(JSON.parse(text));
  } catch {
    throw invalid('seen', 'must be what the key was');
  }
}

/** What a key is to be: an end that is the day which was shown stays at its hour. */
function changedLimits({ seen, ...fields }: { name: string; ends?: string | undefined; allowlist?: string | undefined; seen: string }) {
  const { expiresAt } = seenOf(seen);
  return { ...limitsOf(fields), ...(fields.ends !== undefined && fields.ends === expiresAt?.slice(0, 10) && { expiresAt }) };
}

function limitWords({ name, expiresAt, allowlist }: SeenLimits): Record<'name' | 'expiresAt' | 'allowlist', string | null> {
  return { name, expiresAt, allowlist: allowlist?.join(' ') ?? null };
}

function limitsOf({ name, ends, allowlist }: { name: string; ends?: string | undefined; allowlist?: string | undefined }) {
  return {
    name,
    // Through the day that is named.
    expiresAt: ends === undefined ? null : `${ends}T23:59:59Z`,
    allowlist: allowlist === undefined ? null : allowlist.split(/[\s,]+/).filter((one) => one !== ''),
  };
}

/** Acts on keys, secrets and the addresses that calls come from. */
export const KEY_ACTS = {
  'key-create': act({
    permission: 'key:manage',
    fields: newKey,
    target: ({ name }) => name,
    agreed: async (_deps, { fields }) => {
      const { name, permissions, expiresAt, allowlist } = keyOf(fields);
      return { name, permissions: permissions.join(' '), expiresAt, allowlist: allowlist?.join(' ') ?? null };
    },
    run: async (deps, { gateway, fields, personId, role, permissions, commit }) => {
      const body = keyOf(fields);
      if (body.permissions.length === 0) throw invalid('permissions', 'must be at least one');
      return (await createKey(deps, { gateway, by: { personId, role, permissions }, body, commit })).data as object;
    },
  }),
  'key-change': act({
    permission: 'key:manage',
    fields: z.strictObject({
      id: z.string().regex(/^[0-9a-f]{16}$/),
      name: z.string().max(200),
      ends: z.iso.date().optional(),
      allowlist: z.string().max(4_000).optional(),
      seen: z.string().max(8_192),
    }),
    target: ({ id }) => id,
    // What it was is agreed to as well: a form from before somebody narrowed the key does not widen it again.
    agreed: async (_deps, { fields: { id, ...fields } }) => {
      const was = Object.entries(limitWords(seenOf(fields.seen))).map(([name, value]) => [`${name} before`, value]);
      return { key: id, ...Object.fromEntries(was), ...limitWords(changedLimits(fields)) };
    },
    noted: ({ seen, ...fields }) => ({ before: limitWords(seenOf(seen)), after: limitWords(changedLimits({ seen, ...fields })) }),
    run: async (deps, { gateway, fields: { id: keyId, ...fields }, personId, role, permissions, commit }) =>
      nothing(changeKey(deps, { gateway, by: { personId, role, permissions }, keyId, body: changedLimits(fields), seen: seenOf(fields.seen), commit })),
  }),
  'key-revoke': act({
    permission: 'key:manage',
    fields: z.strictObject({ id: z.string().regex(/^[0-9a-f]{16}$/) }),
    target: ({ id }) => id,
    agreed: async (_deps, { fields: { id } }) => ({ key: id }),
    run: async (deps, { gateway, fields: { id }, personId, role, permissions, commit }) =>
      nothing(revokeKey(deps, { gateway, by: { personId, role, permissions }, keyId: id, commit })),
  }),
  'secret-roll': act({
    permission: 'secret:roll',
    // The secret that they saw: one that came since has been given to nobody yet.
    fields: z.strictObject({ kind: z.enum(SECRETS), overlap: z.enum(OVERLAPS), current: z.uuid().optional() }),
    target: ({ kind }) => kind,
    agreed: async (_deps, { fields: { kind, overlap, current = null } }) => ({ kind, current, overlapSeconds: Number(overlap) }),
    run: async (deps, { gateway, fields: { kind, overlap, current }, commit }) => {
      const secret = newSecret(kind, deps.randomBytes);
      await commit(async (tx) => {
        await rollSecret(deps, tx, { gatewayId: gateway.id, kind, secret, overlapSeconds: Number(overlap), seen: current });
        return { status: 200, data: {} };
      });
      return { kind, secret, overlapSeconds: Number(overlap) };
    },
  }),
  'secret-end': act({
    permission: 'secret:roll',
    // The secret that goes on: what ends is what came before that one, and never what a later one replaced.
    fields: z.strictObject({ kind: z.enum(SECRETS), current: z.uuid() }),
    target: ({ kind }) => kind,
    agreed: async (_deps, { fields: { kind, current } }) => ({ kind, current, earlier: 'ends now' }),
    run: async (_deps, { gateway, fields: { kind, current }, commit }) => inOne(commit, (tx) => endOverlap(tx, { gatewayId: gateway.id, kind, current })),
  }),
  'allowlist-add': act({
    permission: 'settings:write',
    fields: z.strictObject({ list: z.enum(['api', 'cashout']), address: z.string().trim().max(64), note: z.string().max(120).optional() }),
    target: ({ address }) => address,
    agreed: async (_deps, { fields: { list, address, note = null } }) => ({ list, address, note }),
    run: async (_deps, { gateway, fields: { note = null, ...fields }, commit }) => inOne(commit, (tx) => addToAllowlist(tx, { gateway, ...fields, note })),
  }),
  'allowlist-remove': act({
    permission: 'settings:write',
    fields: z.strictObject({ list: z.enum(['api', 'cashout']), address: z.string().max(64) }),
    target: ({ address }) => address,
    agreed: async (_deps, { fields }) => ({ ...fields }),
    run: async (_deps, { gateway, fields, commit }) => inOne(commit, (tx) => removeFromAllowlist(tx, { gateway, ...fields })),
  }),
} satisfies Partial<Record<GatewayActName, GatewayAct<unknown>>>;

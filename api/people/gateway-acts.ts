import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { createPayment } from '#api/payments/create.ts';
import { inquirePayment } from '#api/payments/inquire.ts';
import { loadOwnPayment } from '#api/payments/load.ts';
import { RESENDABLE_STATES, resendPaymentWebhook, resendWebhooks } from '#api/payments/resend-webhook.ts';
import { playScenario } from '#api/payments/simulate.ts';
import { createExport, READS_AUDIT } from '#api/exports/exports.ts';
import { OFFERED_KINDS, rememberColumns } from '#api/exports/chosen-columns.ts';
import { EXPORT_KINDS, type ExportKind } from '#api/exports/kinds.ts';
import { chooseMonthlyExports } from '#api/exports/monthly-exports.ts';
import { PERMISSIONS } from '#api/gateways/keys.ts';
import { addToAllowlist, removeFromAllowlist } from '#api/gateways/change-allowlist.ts';
import { agreeToPolicies, declinePolicies, findWaiting, proposePolicies } from '#api/gateways/change-policies.ts';
import { readPolicyBook } from '#api/gateways/read-policies.ts';
import type { PolicyBook } from '#shared/core/written-policies.ts';
import { changeKey, createKey, revokeKey } from '#api/gateways/manage-keys.ts';
import { endOverlap, newSecret, rollSecret } from '#api/gateways/secrets.ts';
import { readLogoImage } from '#api/gateways/logo-image.ts';
import { changeLogo, changeOwnSettings } from '#api/gateways/change-settings.ts';
import { readSettingsChange, type SettingsChange } from '#api/gateways/owner-settings.ts';
import { changeInWords } from '#api/gateways/written-setting.ts';
import { testWebhook } from '#api/payments/test-webhook.ts';
import { addAddress, hideAddress, renameAddress } from '#api/settlements/address-book.ts';
import { listCreditAsks, SCREENING_CREDIT } from '#api/store/credit-asks.ts';
import { findBookEntry } from '#api/store/address-book.ts';
import type { MonthlyExport } from '#api/store/monthly-exports.ts';
import { keepLanguage } from '#api/store/notifications.ts';
import { approveForPerson } from '#api/settlements/approve.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { retrySettlement } from '#api/settlements/retry.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { readAsset } from '#api/treasury/destination.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isMoney } from '#shared/core/money.ts';
import { SCENARIOS } from '#state-machines/payment/scenario.ts';
import type { GatewayActName } from './act-names.ts';
import { confirmMemberChange, findWaitingChange, inviteMember, needsAnotherOwner, removeMember, withdrawMemberChange } from './members.ts';
import type { Act } from './step-up.ts';

/** What an act needs to be done: whose gateway it is, who does it, and the one transaction in which they still may. */
interface Doing<Fields> {
  gateway: Gateway;
  fields: Fields;
  /** What was agreed to; nothing where a session is enough. */
  agreed: Act['content'];
  personId: string;
  email: string;
  role: string;
  permissions: readonly string[];
  /** Where they are. */
  address: string;
  commit: Commit;
}

interface GatewayAct<Fields> {
  /** What the person's role must allow. */
  permission: string;
  /** Fields of its form. */
  fields: z.ZodType<Fields>;
  /** Id of what it is done to, for the log of people's acts. */
  target(fields: Fields): string;
  /** Everything that a person agrees to who proves that they want it; absent where a session is enough. */
  agreed?(deps: Deps, asked: { gateway: Gateway; fields: Fields; personId: string }): Promise<Act['content']>;
  /** What it was and what it becomes, for the record of acts, where that is said apart from what is agreed to. */
  noted?(fields: Fields): { before?: object; after: object };
  /** Through the same use case as the merchant operation: there is no second way. Answers what is shown once. */
  run(deps: Deps, doing: Doing<Fields>): Promise<object>;
}

const ofCashout = z.strictObject({ id: z.uuid() });

/** A cashout as a form asks for it. */
export const newCashout = z.strictObject({
  assetId: z.uuid(),
  amount: z.string().max(80),
  address: z.string().max(200),
  route: z.enum(['GREEN', 'AML_HELD', 'SMART']).optional(),
  label: z.string().max(255).optional(),
});

/** A key as a form asks for it: each permission is a box of its own, such as `may:payment:read`. */
const newKey = z
  .strictObject({ name: z.string().max(200), ends: z.iso.date().optional(), allowlist: z.string().max(4_000).optional() })
  .extend(Object.fromEntries(PERMISSIONS.map((one) => [`may:${one}`, z.literal('on').optional()]))) as unknown as z.ZodType<NewKey>;
type NewKey = { name: string; ends?: string; allowlist?: string } & { [Box in `may:${(typeof PERMISSIONS)[number]}`]?: 'on' };

/** What narrows a key, as a form showed it. */
const seenLimits = z.strictObject({ name: z.string().nullable(), expiresAt: z.string().nullable(), allowlist: z.array(z.string()).nullable() });
type SeenLimits = z.infer<typeof seenLimits>;

/** The language of whoever sends a form, which their mail is in. */
export const languageTag = z.string().regex(/^[A-Za-z-]{2,35}$/);

const exportFormat = z.enum(['csv', 'jsonl']);
/** Each column of each kind is a box of its own, such as `column:ledger:amount`. */
const columnBoxes = Object.fromEntries(
  OFFERED_KINDS.flatMap((kind) => EXPORT_KINDS[kind].columns.map((column) => [`column:${kind}:${column}`, z.literal('on').optional()])),
);
type Boxes = Readonly<Record<string, string | undefined>>;

function columnsIn(fields: Boxes, kind: ExportKind): string[] {
  return EXPORT_KINDS[kind].columns.filter((column) => fields[`column:${kind}:${column}`] === 'on');
}

/** What is wanted of each month: a format by kind, and its columns. */
const monthlyExports = z
  .strictObject({ language: languageTag })
  .extend(Object.fromEntries(OFFERED_KINDS.map((kind) => [`monthly:${kind}`, exportFormat.optional()])))
  .extend(columnBoxes) as unknown as z.ZodType<{ language: string } & Boxes>;

function monthlyOf(fields: Boxes): MonthlyExport[] {
  return OFFERED_KINDS.flatMap((kind) => {
    const format = fields[`monthly:${kind}`] as MonthlyExport['format'] | undefined;
    return format === undefined ? [] : [{ kind, format, columns: columnsIn(fields, kind) }];
  });
}

/** An export as a form asks for it; `columns` where its boxes say which, and all of them where it has none. */
const newExport = z
  .strictObject({
    kind: z.enum(['payments', 'settlements', 'ledger', 'credits', 'audit']),
    format: exportFormat,
    from: z.iso.date().optional(),
    to: z.iso.date().optional(),
    asset: z.string().max(64).optional(),
    columns: z.literal('chosen').optional(),
  })
  .extend(columnBoxes) as unknown as z.ZodType<NewExport>;
type NewExport = Pick<MonthlyExport, 'kind' | 'format'> & { from?: string; to?: string; asset?: string; columns?: 'chosen' } & Boxes;

/** @throws validation_error for no column of its kind */
function chosenColumns(fields: NewExport): string[] | null {
  if (fields.columns === undefined) return null;
  const columns = columnsIn(fields, fields.kind);
  if (columns.length === 0) throw invalid('columns', 'must be one at least');
  return columns;
}

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

/** An entry of the address book, as its row has it. @throws not_found */
async function entryInWords(deps: Deps, gateway: Gateway, id: string): Promise<Record<string, string>> {
  const entry = await findBookEntry(deps.db.sql, gateway.id, id);
  if (entry === undefined) throw new ServiceError('not_found');
  return { network: entry.network, address: entry.address, from: entry.label };
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

/** Everything that a person may do at a gateway, by the name in the path of its form. */
export const GATEWAY_ACTS: Readonly<Record<GatewayActName, GatewayAct<unknown>>> = {
  'settlement-create': act({
    permission: 'settlement:create',
    fields: newCashout,
    target: ({ address }) => address,
    agreed: async (deps, { fields: { assetId, amount, address, route = 'GREEN', label = null } }) => {
      const { asset } = await readAsset(deps, assetId);
      return { asset: asset.symbol, network: asset.networkName, amount, address, route, label };
    },
    run: async (deps, { gateway, fields, personId, email, commit }) => {
      if (!gateway.settings.cashout.enabled) throw new ServiceError('cashout_not_enabled');
      const reply = await createSettlement(deps, { gateway, body: { ...fields, metadata: { requester: email } }, by: { personId }, commit });
      return { id: reply.resourceId };
    },
  }),
  'settlement-approve': act({
    permission: 'settlement:approve',
    fields: ofCashout,
    target: ({ id }) => id,
    // Whatever the console showed, this is what is approved: the row's own words.
    agreed: async (deps, { gateway, fields: { id } }) => {
      const { assetName: asset, network, amount, address, route } = await getSettlement(deps, { gateway, id });
      return { asset, network, amount, address, route };
    },
    run: async (deps, { gateway, fields: { id }, personId, commit }) => {
      await commit((tx) => approveForPerson(tx, deps, { gateway, id, personId }));
      deps.wake();
      return {};
    },
  }),
  'settlement-retry': act({
    permission: 'settlement:create',
    fields: ofCashout,
    target: ({ id }) => id,
    run: async (deps, { gateway, fields: { id }, commit }) => nothing(retrySettlement(deps, { gateway, id, commit })),
  }),
  'settlement-cancel': act({
    permission: 'settlement:create',
    fields: ofCashout,
    target: ({ id }) => id,
    run: async (deps, { gateway, fields: { id }, commit }) => nothing(cancelSettlement(deps, { gateway, id, commit })),
  }),
  'webhook-resend': act({
    permission: 'webhook:resend',
    fields: z.strictObject({ payment: z.uuid() }),
    target: ({ payment }) => payment,
    run: async (deps, { gateway, fields: { payment: paymentId }, commit }) => nothing(resendPaymentWebhook(deps, { gateway, paymentId, commit })),
  }),
  'webhook-test': act({
    permission: 'webhook:resend',
    fields: z.strictObject({ url: z.url().max(2_048).optional() }),
    target: ({ url = '' }) => url,
    run: async (deps, { gateway, fields: { url }, commit }) => {
      await noted(commit);
      return testWebhook(deps, { gateway, body: { ...(url !== undefined && { url }) } });
    },
  }),
  'webhooks-resend': act({
    permission: 'webhook:resend',
    fields: z.strictObject({ state: z.enum(RESENDABLE_STATES) }),
    target: ({ state }) => state,
    run: (deps, { gateway, fields: { state }, commit }) => resendWebhooks(deps, { gateway, state, commit }),
  }),
  'sandbox-create': act({
    permission: 'payment:create',
    fields: z.strictObject({
      amount: z.string().max(80),
      currencyCode: z.string().max(16),
      title: z.string().max(200).optional(),
      webhookUrl: z.string().max(2_048).optional(),
    }),
    target: ({ amount, currencyCode }) => `${amount} ${currencyCode}`,
    run: async (deps, { gateway, fields, address, commit }) => {
      // Whoever pays it goes back to where they made it.
      const callbackUrl = new URL(`/g/${gateway.id}/payments`, deps.config.SLUICE_CONSOLE_URL).toString();
      const reply = await createPayment(deps, { gateway, body: { callbackUrl, ...fields, isSandbox: true }, clientIp: address, commit });
      return { id: reply.resourceId };
    },
  }),
  'sandbox-play': act({
    permission: 'payment:create',
    fields: z.strictObject({ payment: z.uuid(), scenario: z.enum(SCENARIOS) }),
    target: ({ payment }) => payment,
    run: async (deps, { gateway, fields: { payment: paymentId, scenario }, commit }) => {
      const payment = await loadOwnPayment(deps, { gateway, paymentId });
      await noted(commit);
      return nothing(playScenario(deps, payment, { scenario }));
    },
  }),
  'payment-inquire': act({
    permission: 'payment:inquire',
    fields: z.strictObject({ payment: z.uuid(), txHash: z.string().trim().min(1).max(200), network: z.string().max(64).optional() }),
    target: ({ payment }) => payment,
    run: async (deps, { gateway, fields: { payment: paymentId, txHash, network }, commit }) => {
      await noted(commit);
      return { paymentUid: paymentId, result: await inquirePayment(deps, { gateway, paymentId, txHash, network }) };
    },
  }),
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
    run: async (_deps, { gateway, fields: { kind, current }, commit }) =>
      nothing(
        commit(async (tx) => {
          await endOverlap(tx, { gatewayId: gateway.id, kind, current });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'member-invite': act({
    permission: 'team:manage',
    fields: z.strictObject({ email: z.string().max(320), role: z.string().max(20) }),
    target: ({ email }) => email,
    agreed: async (deps, { gateway, fields: { email, role }, personId }) => ({
      email,
      role,
      waits: await needsAnotherOwner(deps.db.sql, { gatewayId: gateway.id, email, role, personId }),
    }),
    run: async (deps, { gateway, fields: { email, role }, agreed, personId, permissions, commit }) => {
      let token: string | null = null;
      await commit(async (tx) => {
        token = await inviteMember(tx, deps, { gatewayId: gateway.id, email, role, personId, permissions, waits: agreed.waits === true });
        return { status: 201, data: {} };
      });
      return linkOf(deps, email, token);
    },
  }),
  'member-remove': act({
    permission: 'team:manage',
    fields: z.strictObject({ email: z.string().max(320) }),
    target: ({ email }) => email,
    agreed: async (deps, { gateway, fields: { email }, personId }) => ({
      email,
      waits: await needsAnotherOwner(deps.db.sql, { gatewayId: gateway.id, email, role: null, personId }),
    }),
    run: async (deps, { gateway, fields: { email }, agreed, personId, commit }) =>
      nothing(
        commit(async (tx) => {
          await removeMember(tx, deps, { gatewayId: gateway.id, email, personId, waits: agreed.waits === true });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'member-confirm': act({
    permission: 'team:manage',
    fields: ofCashout,
    target: ({ id }) => id,
    // The whole of what was proposed, as its row has it.
    agreed: async (deps, { gateway, fields: { id } }) => {
      const { email, role, proposedByEmail } = await findWaitingChange(deps.db.sql, gateway.id, id);
      return { email, role, proposedBy: proposedByEmail };
    },
    run: async (deps, { gateway, fields: { id }, personId, permissions, commit }) => {
      let done: { email: string; token: string | null } = { email: '', token: null };
      await commit(async (tx) => {
        done = await confirmMemberChange(tx, deps, { gatewayId: gateway.id, id, personId, permissions });
        return { status: 200, data: {} };
      });
      return linkOf(deps, done.email, done.token);
    },
  }),
  'member-withdraw': act({
    permission: 'team:manage',
    fields: ofCashout,
    target: ({ id }) => id,
    run: async (_deps, { gateway, fields: { id }, personId, commit }) =>
      nothing(
        commit(async (tx) => {
          await withdrawMemberChange(tx, { gatewayId: gateway.id, id, personId });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'policies-propose': act({
    permission: 'settings:write',
    fields: z.strictObject({ book: z.string().max(16_384), capNow }),
    target: () => 'policies',
    // The whole of them, in the order in which they decide.
    agreed: async (_deps, { fields: { book, capNow: before = null } }) => bookWords(bookOf(book), before),
    run: async (_deps, { gateway, fields: { book, capNow: before = null }, personId, commit }) =>
      nothing(
        commit(async (tx) => {
          await proposePolicies(tx, { gateway, personId, book: bookOf(book), capNow: before });
          return { status: 200, data: {} };
        }),
      ),
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
      nothing(
        commit(async (tx) => {
          await agreeToPolicies(tx, { gateway, personId, version: Number(version), capNow: before });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'policies-decline': act({
    permission: 'settings:write',
    fields: ofVersion,
    target: ({ version }) => version,
    run: async (_deps, { gateway, fields: { version }, personId, commit }) =>
      nothing(
        commit(async (tx) => {
          await declinePolicies(tx, { gateway, personId, version: Number(version) });
          return { status: 200, data: {} };
        }),
      ),
  }),
  // Who approves stands for destinations: what they enter is known (decision 0079).
  'address-add': act({
    permission: 'settlement:approve',
    fields: z.strictObject({ network: z.string().max(64), address: z.string().max(200), label: z.string().max(255) }),
    target: ({ address }) => address,
    agreed: async (_deps, { fields }) => ({ ...fields }),
    run: async (deps, { gateway, fields, email, commit }) => nothing(addAddress(deps, { gateway, by: email, body: fields, commit })),
  }),
  'address-rename': act({
    permission: 'settlement:approve',
    fields: z.strictObject({ id: z.uuid(), label: z.string().max(255) }),
    target: ({ id }) => id,
    agreed: async (deps, { gateway, fields: { id, label } }) => ({ ...(await entryInWords(deps, gateway, id)), to: label }),
    run: async (deps, { gateway, fields: { id: addressId, label }, email, commit }) =>
      nothing(renameAddress(deps, { gateway, by: email, addressId, body: { label }, commit })),
  }),
  'address-hide': act({
    permission: 'settlement:approve',
    fields: ofCashout,
    target: ({ id }) => id,
    run: async (deps, { gateway, fields: { id: addressId }, email, commit }) => nothing(hideAddress(deps, { gateway, by: email, addressId, commit })),
  }),
  'allowlist-add': act({
    permission: 'settings:write',
    fields: z.strictObject({ list: z.enum(['api', 'cashout']), address: z.string().trim().max(64), note: z.string().max(120).optional() }),
    target: ({ address }) => address,
    agreed: async (_deps, { fields: { list, address, note = null } }) => ({ list, address, note }),
    run: async (_deps, { gateway, fields: { note = null, ...fields }, commit }) =>
      nothing(
        commit(async (tx) => {
          await addToAllowlist(tx, { gateway, ...fields, note });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'allowlist-remove': act({
    permission: 'settings:write',
    fields: z.strictObject({ list: z.enum(['api', 'cashout']), address: z.string().max(64) }),
    target: ({ address }) => address,
    agreed: async (_deps, { fields }) => ({ ...fields }),
    run: async (_deps, { gateway, fields, commit }) =>
      nothing(
        commit(async (tx) => {
          await removeFromAllowlist(tx, { gateway, ...fields });
          return { status: 200, data: {} };
        }),
      ),
  }),
  // Whoever may send coins is stopped by what is missing. Operators see it, and how much is used a day; they decide how much is given.
  'credits-ask': act({
    permission: 'settlement:create',
    fields: z.strictObject({}),
    target: () => SCREENING_CREDIT,
    run: async (_deps, { gateway, commit }) =>
      nothing(
        commit(async (tx) => {
          if (!gateway.settings.screening.enabled) throw new ServiceError('conflict', { message: 'Screening is off.' });
          if ((await listCreditAsks(tx, { gatewayId: gateway.id })).length > 0) throw new ServiceError('conflict', { message: 'Somebody asked already.' });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'settings-change': act({
    permission: 'settings:write',
    fields: z.strictObject({ change: z.string().max(16_384) }),
    target: () => 'settings',
    agreed: async (_deps, { fields: { change } }) => changeInWords(readSettingsChange(change)),
    noted: ({ change }) => beforeAndAfter(readSettingsChange(change)),
    run: async (_deps, { gateway, fields: { change }, commit }) =>
      nothing(
        commit(async (tx) => {
          await changeOwnSettings(tx, { gateway, change: readSettingsChange(change) });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'logo-change': act({
    permission: 'settings:write',
    fields: z.strictObject({ image: z.base64().max(16_384), seen: hash.optional() }),
    target: () => 'logo',
    agreed: async (_deps, { fields: { image, seen = null } }) => {
      const { hash: logo, type } = logoOf(image);
      return { before: seen, logo, type };
    },
    run: async (_deps, { gateway, fields: { image, seen = null }, commit }) =>
      nothing(
        commit(async (tx) => {
          await changeLogo(tx, { gateway, seen, logo: logoOf(image) });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'logo-remove': act({
    permission: 'settings:write',
    fields: z.strictObject({ seen: hash }),
    target: () => 'logo',
    agreed: async (_deps, { fields: { seen } }) => ({ before: seen, logo: null }),
    run: async (_deps, { gateway, fields: { seen }, commit }) =>
      nothing(
        commit(async (tx) => {
          await changeLogo(tx, { gateway, seen, logo: null });
          return { status: 200, data: {} };
        }),
      ),
  }),
  'export-create': act({
    permission: 'report:export',
    fields: newExport,
    target: ({ kind }) => kind,
    run: async (deps, { gateway, fields, personId, permissions, commit }) => {
      const { kind, format, from, to, asset } = fields;
      const columns = chosenColumns(fields);
      const day = (text: string, more = 0): string => new Date(Date.parse(`${text}T00:00:00Z`) + more).toISOString();
      // Through the last day that is named.
      const times = { ...(from !== undefined && { from: day(from) }), ...(to !== undefined && { to: day(to, 86_400_000) }) };
      const body = { kind, format, columns, ...times, filter: { ...(asset !== undefined && { asset }) } };
      // What was refused is no choice to keep.
      const keeping: Commit = (work) =>
        commit(async (tx) => {
          const reply = await work(tx);
          if (columns !== null) await rememberColumns(tx, { personId, gatewayId: gateway.id, kind, columns });
          return reply;
        });
      await createExport(deps, { gateway, by: { personId, audit: permissions.includes(READS_AUDIT) }, body, commit: keeping });
      deps.wake();
      return {};
    },
  }),
  'export-monthly': act({
    permission: 'report:export',
    fields: monthlyExports,
    target: () => 'monthly',
    noted: (fields) => ({ after: Object.fromEntries(monthlyOf(fields).map(({ kind, format, columns }) => [kind, { format, columns }])) }),
    run: async (_deps, { gateway, fields, personId, permissions, commit }) =>
      nothing(
        commit(async (tx) => {
          await chooseMonthlyExports(tx, { personId, gatewayId: gateway.id, permissions, wanted: monthlyOf(fields) });
          await keepLanguage(tx, personId, fields.language);
          return { status: 200, data: {} };
        }),
      ),
  }),
};

/** Lets each act be written with the type of its own fields, and be done with fields that its own shape let through. */
function act<Fields>(one: GatewayAct<Fields>): GatewayAct<unknown> {
  return one as GatewayAct<unknown>;
}

/** Says that somebody does this, where what they do has transactions of its own. */
function noted(commit: Commit): Promise<Reply> {
  return commit(async () => ({ status: 200, data: {} }));
}

/** A link that is shown once; nothing where none was made. */
function linkOf({ config }: Deps, email: string, token: string | null): object {
  return token === null ? {} : { email, link: new URL(`/invitations/${token}`, config.SLUICE_CONSOLE_URL).toString() };
}

async function nothing(work: Promise<unknown>): Promise<object> {
  await work;
  return {};
}

import * as z from 'zod';
import type { Deps, Reply } from '#api/deps.ts';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { clearHaltedWallet } from '#api/operator/clear-wallet.ts';
import type { OperatorCall } from '#api/operator/deps.ts';
import { allowFurtherTransfer, misplacedViews } from '#api/operator/further-transfer.ts';
import { freeze, unfreeze } from '#api/operator/freeze.ts';
import { addScreeningCredits, changeGateway, createGateway } from '#api/operator/gateways.ts';
import { discardJob, retryJob, retryJobs } from '#api/operator/jobs.ts';
import { pauseNetwork, resumeNetwork } from '#api/operator/networks.ts';
import { adoptOutgoing } from '#api/operator/outgoing.ts';
import { putPrice } from '#api/operator/prices.ts';
import { confirmProposal, withdrawProposal } from '#api/operator/proposals.ts';
import { rejectSettlement } from '#api/operator/reject-settlement.ts';
import { rescanNetwork } from '#api/operator/rescan.ts';
import { resetInquiries } from '#api/operator/reset-inquiries.ts';
import { resolveAml } from '#api/operator/resolve-aml.ts';
import { cancelWithheld, proposeWithheld, readWithheld } from '#api/operator/withheld.ts';
import { insertKeyMaker } from '#api/store/key-makers.ts';
import { findListedJob } from '#api/store/operator-lists.ts';
import { TOPICS } from '#api/store/outbox.ts';
import { findPayment } from '#api/store/payments.ts';
import { findProposal } from '#api/store/proposals.ts';
import { findSettlement } from '#api/store/settlements.ts';
import { findGateway, type StoredGateway } from '#api/store/gateways.ts';
import { findWithheldTransfer } from '#api/store/withheld-transfers.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { OperatorActName } from './act-names.ts';
import { mergeGateway } from '#api/gateways/gateway-settings.ts';
import { parseApiKey } from '#api/gateways/keys.ts';
import { OPERATOR_TERM_NAMES, type OperatorTermName, patchOfTerms, readTermsChange, refuseMovedTerms } from '#api/gateways/operator-terms.ts';
import { changeInWords } from '#api/gateways/written-setting.ts';
import { readEmail } from './email-address.ts';
import { invitePerson } from './invitations.ts';
import { endOperator } from './members.ts';
import { doer, type Signed } from './signed.ts';
import type { Act } from './step-up.ts';

/** Somebody who does something at the deployment; every transaction of `deps` looks first whether they still may. */
interface Doing<Fields> {
  signed: Signed;
  fields: Fields;
}

interface OperatorAct<Fields> {
  /** What the person's role must allow. */
  permission: string;
  /** Fields of its form. */
  fields: z.ZodType<Fields>;
  /** Id or name of what it is done to, for the log of people's acts. */
  target(fields: Fields): string;
  /** Everything that a person agrees to who proves that they want it, read from rows and not from the form where a row says it; absent where a session is enough. */
  agreed?(deps: Deps, fields: Fields, permissions: readonly string[]): Promise<Act['content']>;
  /** Through the operation of the operator API of that name: there is no second way. Answers what is shown once. */
  run(deps: Deps, doing: Doing<Fields>): Promise<object>;
}

const id = z.uuid();
const reason = z.string().trim().min(1).max(500);
const network = z.string().max(64);
const ofId = z.strictObject({ id });
const ofIdWhy = z.strictObject({ id, reason });

/** Everything that a person may do at the deployment, by the name in the path of its form. What takes two people does: none of them is ever both. */
export const OPERATOR_ACTS: Readonly<Record<OperatorActName, OperatorAct<unknown>>> = {
  'settlement-reject': act({
    permission: 'settlement:reject',
    fields: ofIdWhy,
    target: (fields) => fields.id,
    agreed: async (deps, fields) => {
      const row = await findSettlement(deps.db.sql, fields.id);
      if (row === undefined) throw new ServiceError('not_found');
      return { asset: row.assetSymbol, network: row.networkName, amount: row.amountText, address: row.address, reason: fields.reason };
    },
    run: (deps, { fields }) => answered(rejectSettlement(deps, callOf(fields))),
  }),
  'payment-release': ofHeld('RELEASE'),
  'payment-withhold': ofHeld('WITHHOLD'),
  'payment-refund': act({
    permission: 'aml:decide',
    fields: z.strictObject({ id, reason, address: z.string().max(200) }),
    target: (fields) => fields.id,
    agreed: async (deps, fields) => ({ ...(await heldInWords(deps, fields.id)), action: 'REFUND', address: fields.address, reason: fields.reason }),
    run: (deps, { fields }) => answered(resolveAml(deps, callOf(fields, { action: 'REFUND' }))),
  }),
  'payment-transfer': act({
    permission: 'aml:decide',
    // The transfer whose failure they saw: one that failed since is looked at first.
    fields: z.strictObject({ id, assetId: id, failedPayoutId: id, reason }),
    target: (fields) => fields.id,
    agreed: async (deps, { id: paymentId, assetId, failedPayoutId, reason: why }) => {
      const coins = (await misplacedViews(deps.db.sql, paymentId)).find((one) => one.assetId === assetId.toLowerCase());
      if (coins === undefined) throw new ServiceError('not_found');
      const { assetSymbol, network: of, amount, from, to } = coins;
      return { assetId: coins.assetId, asset: assetSymbol, network: of, amount, from, to, failedPayoutId, reason: why };
    },
    run: (deps, { fields }) => answered(allowFurtherTransfer(deps, callOf(fields))),
  }),
  'withheld-pay': act({
    permission: 'aml:decide',
    fields: z.strictObject({ id, assetId: id, amount: z.string().max(64), address: z.string().max(200), reason }),
    target: (fields) => fields.id,
    // What could not be proposed is refused before a proof is used up.
    agreed: async (deps, fields) => readWithheld(deps, callOf(fields)),
    run: (deps, { fields }) => answered(proposeWithheld(deps, callOf(fields))),
  }),
  'withheld-cancel': act({
    permission: 'aml:decide',
    // Its gateway is where whoever did it is shown what came of it.
    fields: z.strictObject({ id, gateway: id, reason }),
    target: (fields) => fields.id,
    agreed: async (deps, { id: transferId, gateway, reason: why }) => {
      const transfer = await findWithheldTransfer(deps.db.sql, transferId);
      if (transfer === undefined || transfer.gatewayId !== gateway.toLowerCase()) throw new ServiceError('not_found');
      return { gatewayId: transfer.gatewayId, assetId: transfer.assetId, amount: formatAmount(transfer.amount), recipient: transfer.recipient, reason: why };
    },
    run: (deps, { fields: { gateway: _, ...fields } }) => answered(cancelWithheld(deps, callOf(fields))),
  }),
  'proposal-confirm': act({
    permission: 'aml:decide',
    fields: ofId,
    target: (fields) => fields.id,
    // The whole of what was proposed, as its row has it.
    agreed: async (deps, fields, permissions) => {
      const proposal = await findProposal(deps.db.sql, fields.id);
      if (proposal === undefined) throw new ServiceError('not_found');
      // Whoever could not have proposed it does not confirm it.
      if (proposal.act === 'settlement.reject' && !permissions.includes('settlement:reject')) throw new ServiceError('forbidden');
      return { act: proposal.act, of: proposal.target, content: JSON.stringify(proposal.content), reason: proposal.reason, proposedBy: proposal.proposedBy };
    },
    run: (deps, { fields }) => answered(confirmProposal(deps, callOf(fields))),
  }),
  'proposal-withdraw': act({
    permission: 'aml:decide',
    fields: ofId,
    target: (fields) => fields.id,
    run: (deps, { fields }) => answered(withdrawProposal(deps, callOf(fields))),
  }),
  'inquiries-reset': act({
    permission: 'deposit:allocate',
    fields: ofIdWhy,
    target: (fields) => fields.id,
    run: (deps, { fields }) => answered(resetInquiries(deps, callOf(fields))),
  }),
  'deposit-allocate': act({
    permission: 'deposit:allocate',
    fields: z.strictObject({ id, paymentId: id, reason }),
    target: (fields) => fields.id,
    agreed: async (_deps, { paymentId, reason: why }) => ({ paymentId, reason: why }),
    run: (deps, { fields }) => answered(allocateDeposit(deps, callOf(fields))),
  }),
  'job-retry': act({
    permission: 'job:operate',
    fields: ofId,
    target: (fields) => fields.id,
    run: (deps, { fields }) => answered(retryJob(deps, callOf(fields))),
  }),
  'job-discard': act({
    permission: 'job:operate',
    // Typed, so that nobody discards what they meant to try again.
    fields: z.strictObject({ id, reason, confirm: z.string().max(20) }),
    target: (fields) => fields.id,
    agreed: async (deps, { id: jobId, reason: why, confirm }) => {
      if (confirm.trim().toLowerCase() !== 'discard') throw invalid('confirm', 'must be the word discard');
      const job = await findListedJob(deps.db.sql, jobId);
      if (job === undefined) throw new ServiceError('not_found');
      return { topic: job.topic, of: job.refId, reason: why };
    },
    run: (deps, { fields }) => answered(discardJob(deps, callOf(fields))),
  }),
  'jobs-retry': act({
    permission: 'job:operate',
    // Typed, so that nobody has another kind run than they meant.
    fields: z.strictObject({ topic: z.enum(TOPICS), reason, confirm: z.string().max(40) }),
    target: (fields) => fields.topic,
    agreed: async (_deps, { topic, reason: why, confirm }) => {
      if (confirm.trim().toLowerCase() !== topic) throw invalid('confirm', `must be ${topic}`);
      return { topic, atMost: POLICY.jobsRetriedAtOnce, reason: why };
    },
    run: (deps, { fields: { confirm: _, ...fields } }) => answered(retryJobs(deps, callOf(fields))),
  }),
  'network-pause': act({
    permission: 'network:operate',
    fields: z.strictObject({ network, reason }),
    target: (fields) => fields.network,
    agreed: async (_deps, fields) => ({ ...fields }),
    run: (deps, { fields }) => answered(pauseNetwork(deps, callOf(fields))),
  }),
  'network-resume': act({
    permission: 'network:operate',
    fields: z.strictObject({ network, reason }),
    target: (fields) => fields.network,
    agreed: async (_deps, fields) => ({ ...fields }),
    run: (deps, { fields }) => answered(resumeNetwork(deps, callOf(fields))),
  }),
  'network-rescan': act({
    permission: 'network:operate',
    fields: z.strictObject({ network, from: height(), to: height(), reason }),
    target: (fields) => fields.network,
    run: (deps, { fields: { from, to, ...fields } }) => answered(rescanNetwork(deps, callOf(fields, { from: Number(from), to: Number(to) }))),
  }),
  'dispatch-freeze': act({
    permission: 'freeze:operate',
    fields: z.strictObject({ network: network.optional(), reason }),
    target: (fields) => fields.network ?? 'all',
    // Whoever stops cashouts is not asked for more than their session: it may be urgent, and nothing is lost by it.
    run: (deps, { fields: { network: name, reason: why } }) =>
      answered(freeze(deps, { params: {}, query: {}, body: { reason: why, ...(name !== undefined && { scope: `network:${name}` }) } })),
  }),
  'dispatch-unfreeze': act({
    permission: 'freeze:operate',
    fields: z.strictObject({ scope: z.string().max(200), reason }),
    target: (fields) => fields.scope,
    agreed: async (_deps, fields) => ({ ...fields }),
    run: (deps, { fields }) => answered(unfreeze(deps, callOf(fields))),
  }),
  'wallet-clear': act({
    permission: 'freeze:operate',
    fields: z.strictObject({ network, wallet: z.string().max(200), reason }),
    target: (fields) => fields.wallet,
    agreed: async (_deps, fields) => ({ ...fields }),
    run: (deps, { fields }) => answered(clearHaltedWallet(deps, callOf(fields))),
  }),
  'outgoing-adopt': act({
    permission: 'freeze:operate',
    fields: z.strictObject({
      network,
      txid: z.string().max(128),
      as: z.enum(['settlementId', 'refundId', 'withheldId', 'own', 'close', 'lost']),
      paid: z.string().trim().max(64).optional(),
      reason,
    }),
    target: (fields) => fields.txid,
    agreed: async (_deps, { paid = null, ...fields }) => ({ ...fields, paid }),
    run: (deps, { fields: { as, paid, ...fields } }) => answered(adoptOutgoing(deps, { params: {}, query: {}, body: { ...fields, ...adoptedAs(as, paid) } })),
  }),
  'price-set': act({
    permission: 'network:operate',
    fields: z.strictObject({ symbol: z.string().max(20), usd: z.string().max(40).optional() }),
    target: (fields) => fields.symbol,
    run: (deps, { fields: { symbol, usd = null } }) => answered(putPrice(deps, { params: { symbol }, query: {}, body: { usd } })),
  }),
  'gateway-create': act({
    permission: 'gateway:provision',
    fields: z.strictObject({
      name: z.string().max(200),
      billing: z.enum(['STANDARD', 'MONTHLY', 'PLATFORM']),
      owner: z.string().max(320),
      cashouts: z.literal('on').optional(),
      allowlist: z.string().max(4_000).optional(),
      capUsd: z.string().max(40).optional(),
      parking: z.literal('on').optional(),
      dispatchDelay: wholeNumber().optional(),
      openAmount: z.literal('on').optional(),
      minAmountUsd: z.string().max(40).optional(),
      screening: z.literal('on').optional(),
      screeningCredits: wholeNumber().optional(),
      commissionBps: z
        .string()
        .regex(/^\d{1,5}$/)
        .optional(),
      contactEmail: z.string().max(320).optional(),
    }),
    target: (fields) => fields.name,
    // What could not be invited is refused before anything is made: secrets are shown once.
    agreed: async (_deps, { owner, ...fields }) => ({
      ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? null])),
      owner: readEmail(owner),
    }),
    run: async (deps, { fields: { owner, ...fields }, signed }) => {
      const reply = await createGateway(deps, { params: {}, query: {}, body: gatewayBody(fields) });
      const made = reply.data as { gateway: { id: string; name: string }; apiKey: string; cashoutSigningSecret: string; webhookSecret: string };
      // They see its text now, and may own the gateway later.
      await deps.db.transaction((tx) => insertKeyMaker(tx, parseApiKey(made.apiKey)?.id ?? '', { personId: signed.session.personId }));
      const { token } = await invitePerson(deps, { email: owner, gatewayId: made.gateway.id, role: 'owner', by: doer(signed) });
      const link = new URL(`/invitations/${token}`, deps.config.SLUICE_CONSOLE_URL).toString();
      const { gateway, apiKey, cashoutSigningSecret, webhookSecret } = made;
      return { id: gateway.id, name: gateway.name, apiKey, cashoutSigningSecret, webhookSecret, owner, link };
    },
  }),
  'gateway-status': act({
    permission: 'gateway:provision',
    fields: z.strictObject({ id, status: z.enum(['VERIFIED', 'SUSPENDED']), reason }),
    target: (fields) => fields.id,
    agreed: async (deps, { id: gatewayId, status, reason: why }) => {
      const gateway = await findGateway(deps.db.sql, gatewayId);
      if (gateway === undefined) throw new ServiceError('not_found');
      return { name: gateway.name, from: gateway.status, to: status, reason: why };
    },
    run: (deps, { fields: { status, ...fields } }) => answered(changeGateway(deps, callOf(fields, { status }))),
  }),
  'gateway-terms': act({
    permission: 'gateway:provision',
    fields: z.strictObject({ id, reason, seen: z.string().max(2_000), ...termFields() }),
    target: (fields) => fields.id,
    // What could not be saved is refused before a proof is used up.
    agreed: async (deps, { id: gatewayId, seen, reason: why, ...terms }) => {
      const gateway = await findGateway(deps.db.sql, gatewayId);
      if (gateway === undefined) throw new ServiceError('not_found');
      const change = readTermsChange(seen, terms);
      refuseMovedTerms({ billing: gateway.billing, ...gateway.settings }, change);
      mergeGateway(gateway, patchOfTerms(change));
      return { name: gateway.name, ...changeInWords(change), reason: why };
    },
    run: (deps, { fields: { id: gatewayId, seen, reason: why, ...terms } }) => {
      const change = readTermsChange(seen, terms);
      const allow = ({ billing, settings }: StoredGateway): void => refuseMovedTerms({ billing, ...settings }, change);
      return answered(changeGateway(deps, { params: { id: gatewayId }, query: {}, body: { ...patchOfTerms(change), reason: why } }, allow));
    },
  }),
  'credits-add': act({
    permission: 'gateway:provision',
    fields: z.strictObject({ id, add: z.string().regex(/^[1-9]\d{0,8}$/), reason }),
    target: (fields) => fields.id,
    agreed: async (_deps, { add, reason: why }) => ({ add: Number(add), reason: why }),
    run: (deps, { fields: { add, ...fields } }) => answered(addScreeningCredits(deps, callOf(fields, { add: Number(add) }))),
  }),
  'operator-invite': act({
    permission: 'gateway:provision',
    fields: z.strictObject({ email: z.string().max(320), role: z.enum(['operator', 'auditor']) }),
    target: (fields) => fields.email,
    agreed: async (_deps, fields) => ({ ...fields }),
    run: async (deps, { fields: { email, role }, signed }) => {
      const { token } = await invitePerson(deps, { email, gatewayId: null, role, by: doer(signed) });
      return { email, link: new URL(`/invitations/${token}`, deps.config.SLUICE_CONSOLE_URL).toString() };
    },
  }),
  'operator-remove': act({
    permission: 'gateway:provision',
    fields: z.strictObject({ email: z.string().max(320) }),
    target: (fields) => fields.email,
    agreed: async (_deps, fields) => ({ ...fields }),
    run: async (deps, { fields: { email }, signed }) => {
      await deps.db.transaction((tx) => endOperator(tx, deps, { email, by: signed.session.personId }));
      return {};
    },
  }),
};

/** A held payment that is cleared, or whose coins are kept. */
function ofHeld(action: 'RELEASE' | 'WITHHOLD'): OperatorAct<unknown> {
  return act({
    permission: 'aml:decide',
    fields: ofIdWhy,
    target: (fields) => fields.id,
    agreed: async (deps, fields) => ({ ...(await heldInWords(deps, fields.id)), action, reason: fields.reason }),
    run: (deps, { fields }) => answered(resolveAml(deps, callOf(fields, { action }))),
  });
}

/** What is decided about, as its row has it. @throws not_found */
async function heldInWords(deps: Deps, paymentId: string): Promise<Act['content']> {
  const payment = await findPayment(deps.db.sql, paymentId);
  if (payment === undefined) throw new ServiceError('not_found');
  return { paymentId, gatewayId: payment.gatewayId, amount: payment.amount, currency: payment.currencyCode };
}

/** A field of the form for each term; what it may be, its setting says. */
function termFields(): Record<OperatorTermName, z.ZodOptional<z.ZodString>> {
  return Object.fromEntries(OPERATOR_TERM_NAMES.map((name) => [name, z.string().max(64).optional()])) as Record<OperatorTermName, z.ZodOptional<z.ZodString>>;
}

function wholeNumber(): z.ZodString {
  return z.string().regex(/^\d{1,9}$/, 'must be a whole number');
}

function height() {
  return z.string().regex(/^\d{1,15}$/, 'must be the height of a block');
}

/** What a transaction is said to have been, in the fields of the operator API. Pure. @throws validation_error for what was paid without saying which */
function adoptedAs(as: 'settlementId' | 'refundId' | 'withheldId' | 'own' | 'close' | 'lost', paid: string | undefined): Record<string, unknown> {
  if (as === 'own') return {};
  if (as === 'close' || as === 'lost') return { [as]: true };
  if (paid === undefined) throw invalid('paid', 'must be the id of what it paid');
  return { [as]: paid };
}

function gatewayBody(fields: {
  name: string;
  billing: string;
  cashouts?: 'on' | undefined;
  allowlist?: string | undefined;
  capUsd?: string | undefined;
  parking?: 'on' | undefined;
  dispatchDelay?: string | undefined;
  openAmount?: 'on' | undefined;
  minAmountUsd?: string | undefined;
  screening?: 'on' | undefined;
  screeningCredits?: string | undefined;
  commissionBps?: string | undefined;
  contactEmail?: string | undefined;
}) {
  const { name, billing, cashouts, allowlist = '', capUsd = null, commissionBps = '0', contactEmail = null } = fields;
  return {
    name,
    billing,
    contactEmail,
    settings: { commissionBps: Number(commissionBps) },
    openAmount: { enabled: fields.openAmount === 'on', minAmountUsd: fields.minAmountUsd ?? null },
    cashout: {
      enabled: cashouts === 'on',
      allowlist: allowlist.split(/[\s,]+/).filter((one) => one !== ''),
      approvalCapUsd: capUsd,
      parkingEnabled: fields.parking === 'on',
      dispatchDelaySeconds: Number(fields.dispatchDelay ?? 0),
    },
    screening: { enabled: fields.screening === 'on', credits: Number(fields.screeningCredits ?? 0) },
  };
}

/** Fields of a form as a call of the operator API has them. Pure. */
function callOf(fields: Readonly<Record<string, string | undefined>>, more: Readonly<Record<string, unknown>> = {}): OperatorCall {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Record<string, string>;
  const { id: of, network: named, ...rest } = given;
  const params = { ...(of !== undefined && { id: of }), ...(named !== undefined && { network: named }) };
  return { params, query: {}, body: { ...rest, ...(named !== undefined && { network: named }), ...more } };
}

async function answered(reply: Promise<Reply>): Promise<object> {
  const { status, data } = await reply;
  return status === 202 ? { proposed: (data as { id: string }).id } : {};
}

/** Lets each act be written with the type of its own fields, and be done with fields that its own shape let through. */
function act<Fields>(one: OperatorAct<Fields>): OperatorAct<unknown> {
  return one as OperatorAct<unknown>;
}

import * as z from 'zod';
import type { Deps, Gateway } from '#api/deps.ts';
import { addAddress, hideAddress, renameAddress } from '#api/settlements/address-book.ts';
import { listCreditAsks, SCREENING_CREDIT } from '#api/store/credit-asks.ts';
import { findBookEntry } from '#api/store/address-book.ts';
import { approveForPerson } from '#api/settlements/approve.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { retrySettlement } from '#api/settlements/retry.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { readAsset } from '#api/treasury/destination.ts';
import { ServiceError } from '#shared/core/errors.ts';
import type { GatewayActName } from '../act-names.ts';
import { act, inOne, nothing, ofId, type GatewayAct } from './gateway-act.ts';

/** A cashout as a form asks for it. */
export const newCashout = z.strictObject({
  assetId: z.uuid(),
  amount: z.string().max(80),
  address: z.string().max(200),
  route: z.enum(['GREEN', 'AML_HELD', 'SMART']).optional(),
  label: z.string().max(255).optional(),
});

/** An entry of the address book, as its row has it. @throws not_found */
async function entryInWords(deps: Deps, gateway: Gateway, id: string): Promise<Record<string, string>> {
  const entry = await findBookEntry(deps.db.sql, gateway.id, id);
  if (entry === undefined) throw new ServiceError('not_found');
  return { network: entry.network, address: entry.address, from: entry.label };
}

/** Acts on cashouts and on where they may go. */
export const CASHOUT_ACTS = {
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
    fields: ofId,
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
    fields: ofId,
    target: ({ id }) => id,
    run: async (deps, { gateway, fields: { id }, commit }) => nothing(retrySettlement(deps, { gateway, id, commit })),
  }),
  'settlement-cancel': act({
    permission: 'settlement:create',
    fields: ofId,
    target: ({ id }) => id,
    run: async (deps, { gateway, fields: { id }, commit }) => nothing(cancelSettlement(deps, { gateway, id, commit })),
  }),
  // Whoever may send coins is stopped by what is missing. Operators see it, and how much is used a day; they decide how much is given.
  'credits-ask': act({
    permission: 'settlement:create',
    fields: z.strictObject({}),
    target: () => SCREENING_CREDIT,
    run: async (_deps, { gateway, commit }) =>
      inOne(commit, async (tx) => {
        if (!gateway.settings.screening.enabled) throw new ServiceError('conflict', { message: 'Screening is off.' });
        if ((await listCreditAsks(tx, { gatewayId: gateway.id })).length > 0) throw new ServiceError('conflict', { message: 'Somebody asked already.' });
      }),
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
    fields: ofId,
    target: ({ id }) => id,
    run: async (deps, { gateway, fields: { id: addressId }, email, commit }) => nothing(hideAddress(deps, { gateway, by: email, addressId, commit })),
  }),
} satisfies Partial<Record<GatewayActName, GatewayAct<unknown>>>;

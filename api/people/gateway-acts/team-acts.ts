import * as z from 'zod';
import type { Deps } from '#api/deps.ts';
import type { GatewayActName } from '../act-names.ts';
import { confirmMemberChange, findWaitingChange, inviteMember, needsAnotherOwner, removeMember, withdrawMemberChange } from '../members.ts';
import { act, inOne, ofId, type GatewayAct } from './gateway-act.ts';

/** Acts on who belongs to a gateway. */
export const TEAM_ACTS = {
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
      inOne(commit, (tx) => removeMember(tx, deps, { gatewayId: gateway.id, email, personId, waits: agreed.waits === true })),
  }),
  'member-confirm': act({
    permission: 'team:manage',
    fields: ofId,
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
    fields: ofId,
    target: ({ id }) => id,
    run: async (_deps, { gateway, fields: { id }, personId, commit }) =>
      inOne(commit, (tx) => withdrawMemberChange(tx, { gatewayId: gateway.id, id, personId })),
  }),
} satisfies Partial<Record<GatewayActName, GatewayAct<unknown>>>;

/** A link that is shown once; nothing where none was made. */
function linkOf({ config }: Deps, email: string, token: string | null): object {
  return token === null ? {} : { email, link: new URL(`/invitations/${token}`, config.SLUICE_CONSOLE_URL).toString() };
}

import * as z from 'zod';
import { type IdentityProvider, openIdentityProvider } from '#api/clients/identity-provider.ts';
import type { Deps } from '#api/deps.ts';
import { endSessions, type Session } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import {
  authenticatorProofOptions,
  authenticatorRemovalOptions,
  makeAuthenticator,
  type NewAuthenticator,
  removeAuthenticator,
  startAuthenticator,
} from './authenticator.ts';
import type { SettlementReview } from '#api/settlements/review.ts';
import { type AskedAct, doGatewayAct, gatewayActOptions, reviewCashout } from './do-gateway-act.ts';
import { type AskedOperatorAct, doOperatorAct, operatorActOptions } from './do-operator-act.ts';
import { GATEWAY_ACT_NAMES, OPERATOR_ACT_NAMES } from './act-names.ts';
import { languageTag } from './gateway-acts/gateway-act.ts';
import { mailLink, signInByLink } from './mailed-link.ts';
import { NOTIFICATION_KINDS, type NotificationKind } from '#api/store/notifications.ts';
import { chooseNotifications } from './notifications.ts';
import { addPasskey, newPasskeyOptions, passkeyProofOptions, passkeyRemovalOptions, removePasskey, revokeSession } from './profile.ts';
import { beginConnecting, connectOptions, disconnect, disconnectOptions, leaveForProvider, type Leaving, returnFromProvider } from './provider-sign-in.ts';
import { acceptInvitation, invitationOptions, readSession, signIn, signInOptions, type Visitor } from './sign-in.ts';
import type { Signed } from './signed.ts';

/** Somebody who asks with the cookie of a session, and where from. */
export interface Held {
  cookie: string;
  address: string;
}

/**
 * Everything that says who somebody is. Only the http role does it; the console, which may not write any of it, asks for it with what the browser sent: the cookie and what
 * an authenticator signed, which are believed here and nowhere else (decision 0064). Every call throws `forbidden` for what proves nothing.
 */
export interface PeopleDesk {
  /** What a browser is to sign in with. */
  signInOptions(asked: { address: string }): Promise<object>;
  /** Signs a browser in; answers its new cookie. The session of `cookie`, if any, ends. */
  signIn(asked: { credential: string; visitor: Visitor; cookie: string | null }): Promise<{ cookie: string }>;
  /** Mails a link to whoever has the address and an authenticator; the answer says nothing of either. */
  mailLink(asked: { email: string; visitor: Visitor }): Promise<object>;
  /** Signs a browser in by a mailed link and a code. @throws not_found; rate_limit_exceeded after too many wrong codes */
  signInByLink(asked: { token: string; code: string; visitor: Visitor; cookie: string | null }): Promise<{ cookie: string }>;
  /** What the holder of an invitation is to make a passkey with. @throws not_found; conflict for somebody who has one */
  invitationOptions(asked: { token: string; address: string }): Promise<object>;
  /** Accepts an invitation; answers a cookie to whoever is signed in by it. @throws not_found, conflict */
  acceptInvitation(asked: { token: string; credential: string; visitor: Visitor; cookie: string | null }): Promise<{ cookie: string | null }>;
  /** What a person is to make one more passkey with. */
  newPasskeyOptions(asked: Held): Promise<object>;
  /** What a person is to sign, with a passkey they have, so that the one they made is theirs. */
  passkeyProofOptions(asked: Held & { credential: string }): Promise<object>;
  /** @throws conflict when they have too many */
  addPasskey(asked: Held & { credential: string; proof: string }): Promise<object>;
  /** What a person is to sign so that an authenticator may be made theirs. */
  authenticatorProofOptions(asked: Held): Promise<object>;
  /** Makes an authenticator, which counts from its first code on. */
  makeAuthenticator(asked: Held & { proof: string }): Promise<NewAuthenticator>;
  /** Makes it count; answers the codes to keep on paper. @throws rate_limit_exceeded after too many wrong codes */
  startAuthenticator(asked: Held & { code: string }): Promise<{ codes: string[] }>;
  /** What a person is to sign so that their authenticator is taken away. */
  authenticatorRemovalOptions(asked: Held): Promise<object>;
  /** @throws not_found */
  removeAuthenticator(asked: Held & { proof: string }): Promise<object>;
  /** What a person is to sign so that this passkey is taken away. */
  passkeyRemovalOptions(asked: Held & { id: string }): Promise<object>;
  /** @throws not_found; conflict for the last one */
  removePasskey(asked: Held & { id: string; proof: string }): Promise<object>;
  /** Where a browser is sent to sign in at the provider, and what it keeps for when it comes back. @throws not_found without a provider; service_unavailable */
  beginProviderSignIn(asked: { address: string }): Promise<Leaving>;
  /** Takes in a browser that comes back; no cookie for whoever connected the provider. @throws conflict, service_unavailable */
  finishProviderSignIn(asked: { query: string; browser: string; visitor: Visitor; cookie: string | null }): Promise<{ cookie: string | null }>;
  /** What a person is to sign so that the provider may sign them in. */
  providerProofOptions(asked: Held): Promise<object>;
  /** Where a browser is sent to connect the provider to its person. */
  connectProvider(asked: Held & { proof: string }): Promise<Leaving>;
  /** What a person is to sign so that the provider signs them in no more. */
  providerRemovalOptions(asked: Held): Promise<object>;
  /** @throws not_found */
  removeProvider(asked: Held & { proof: string }): Promise<object>;
  /** @throws not_found */
  revokeSession(asked: Held & { id: string }): Promise<object>;
  signOut(asked: Held): Promise<object>;
  /** Chooses what a person is mailed about a gateway of theirs. @throws not_found, forbidden */
  chooseNotifications(asked: Held & { gateway: string; kinds: NotificationKind[]; language?: string | undefined }): Promise<object>;
  /** What a person is to sign so that something is done at a gateway. @throws not_found, validation_error */
  gatewayActOptions(asked: Held & AskedAct): Promise<object>;
  /** Shows what a cashout would be. @throws not_found, validation_error, fee_estimation_unavailable */
  reviewCashout(asked: Held & Omit<AskedAct, 'act'>): Promise<SettlementReview>;
  /** Does it. @throws not_found, validation_error, and whatever the operation of that name does */
  doGatewayAct(asked: Held & AskedAct & { proof: string }): Promise<object>;
  /** What an operator is to sign so that something is done at the deployment. @throws not_found, validation_error */
  operatorActOptions(asked: Held & AskedOperatorAct): Promise<object>;
  /** Does it. @throws not_found, validation_error, and whatever the operation of that name does */
  doOperatorAct(asked: Held & AskedOperatorAct & { proof: string }): Promise<object>;
}

/** Longer than what any authenticator answers. */
const signed = z.string().max(16_384);
const token = z.string().min(1).max(128);
const ip = z.union([z.ipv4(), z.ipv6()]);
const visitor = z.strictObject({ address: ip, browser: z.string().max(4_096) });
const held = { cookie: token, address: ip };
const id = z.string().max(1_400);
const code = z.string().max(64);
const gatewayAct = {
  gateway: z.uuid(),
  act: z.enum(GATEWAY_ACT_NAMES),
  fields: z.record(z.string().max(64), z.string().max(16_384)),
};

const operatorAct = { act: z.enum(OPERATOR_ACT_NAMES), fields: gatewayAct.fields };

/** What each call takes, for whoever hears it over a wire. */
export const DESK_CALLS: { readonly [Name in keyof PeopleDesk]: z.ZodType<Parameters<PeopleDesk[Name]>[0]> } = {
  signInOptions: z.strictObject({ address: ip }),
  signIn: z.strictObject({ credential: signed, visitor, cookie: token.nullable() }),
  mailLink: z.strictObject({ email: z.string().max(320), visitor }),
  signInByLink: z.strictObject({ token, code, visitor, cookie: token.nullable() }),
  invitationOptions: z.strictObject({ token, address: ip }),
  acceptInvitation: z.strictObject({ token, credential: signed, visitor, cookie: token.nullable() }),
  newPasskeyOptions: z.strictObject(held),
  passkeyProofOptions: z.strictObject({ ...held, credential: signed }),
  addPasskey: z.strictObject({ ...held, credential: signed, proof: signed }),
  authenticatorProofOptions: z.strictObject(held),
  makeAuthenticator: z.strictObject({ ...held, proof: signed }),
  startAuthenticator: z.strictObject({ ...held, code }),
  authenticatorRemovalOptions: z.strictObject(held),
  removeAuthenticator: z.strictObject({ ...held, proof: signed }),
  passkeyRemovalOptions: z.strictObject({ ...held, id }),
  removePasskey: z.strictObject({ ...held, id, proof: signed }),
  beginProviderSignIn: z.strictObject({ address: ip }),
  finishProviderSignIn: z.strictObject({ query: z.string().max(8_192), browser: z.string().max(128), visitor, cookie: token.nullable() }),
  providerProofOptions: z.strictObject(held),
  connectProvider: z.strictObject({ ...held, proof: signed }),
  providerRemovalOptions: z.strictObject(held),
  removeProvider: z.strictObject({ ...held, proof: signed }),
  revokeSession: z.strictObject({ ...held, id }),
  signOut: z.strictObject(held),
  chooseNotifications: z.strictObject({
    ...held,
    gateway: z.uuid(),
    kinds: z.array(z.enum(NOTIFICATION_KINDS)).max(NOTIFICATION_KINDS.length),
    language: languageTag.optional(),
  }),
  gatewayActOptions: z.strictObject({ ...held, ...gatewayAct }),
  reviewCashout: z.strictObject({ ...held, gateway: gatewayAct.gateway, fields: gatewayAct.fields }),
  doGatewayAct: z.strictObject({ ...held, ...gatewayAct, proof: signed }),
  operatorActOptions: z.strictObject({ ...held, ...operatorAct }),
  doOperatorAct: z.strictObject({ ...held, ...operatorAct, proof: signed }),
};

/** Opens the desk over a database whose login may write what it says. */
export function openPeopleDesk(deps: Deps): PeopleDesk {
  const opened = openIdentityProvider(deps);
  const provider = (): IdentityProvider => {
    if (opened === undefined) throw new ServiceError('not_found');
    return opened;
  };
  const sessionOf = (cookie: string | null): Promise<Session | undefined> => readSession(deps, cookie ?? undefined);
  const signedIn = async ({ cookie, address }: Held): Promise<Signed> => {
    const session = await sessionOf(cookie);
    if (session === undefined) throw new ServiceError('forbidden', { message: 'Nobody is signed in with this.' });
    return { session, address };
  };
  return {
    signInOptions: () => signInOptions(deps),
    signIn: async ({ credential, visitor, cookie }) => ({ cookie: await signIn(deps, { credential, visitor, before: await sessionOf(cookie) }) }),
    mailLink: async (asked) => {
      mailLink(deps, asked);
      return {};
    },
    signInByLink: async ({ cookie, ...given }) => ({ cookie: await signInByLink(deps, { ...given, before: await sessionOf(cookie) }) }),
    invitationOptions: ({ token }) => invitationOptions(deps, token),
    acceptInvitation: async ({ cookie, ...given }) => ({ cookie: (await acceptInvitation(deps, { ...given, session: await sessionOf(cookie) })) ?? null }),
    newPasskeyOptions: async (held) => newPasskeyOptions(deps, await signedIn(held)),
    passkeyProofOptions: async ({ credential, ...held }) => passkeyProofOptions(deps, await signedIn(held), credential),
    addPasskey: async ({ credential, proof, ...held }) => done(addPasskey(deps, await signedIn(held), { credential, proof })),
    authenticatorProofOptions: async (held) => authenticatorProofOptions(deps, await signedIn(held)),
    makeAuthenticator: async ({ proof, ...held }) => makeAuthenticator(deps, await signedIn(held), proof),
    startAuthenticator: async ({ code, ...held }) => startAuthenticator(deps, await signedIn(held), code),
    authenticatorRemovalOptions: async (held) => authenticatorRemovalOptions(deps, await signedIn(held)),
    removeAuthenticator: async ({ proof, ...held }) => done(removeAuthenticator(deps, await signedIn(held), proof)),
    passkeyRemovalOptions: async ({ id, ...held }) => passkeyRemovalOptions(deps, await signedIn(held), id),
    removePasskey: async ({ id, proof, ...held }) => done(removePasskey(deps, await signedIn(held), { id, proof })),
    beginProviderSignIn: async () => leaveForProvider(deps, provider(), null),
    finishProviderSignIn: async ({ cookie, ...given }) => ({
      cookie: await returnFromProvider(deps, provider(), { ...given, before: await sessionOf(cookie) }),
    }),
    providerProofOptions: async (held) => connectOptions(deps, provider(), await signedIn(held)),
    connectProvider: async ({ proof, ...held }) => beginConnecting(deps, provider(), await signedIn(held), proof),
    providerRemovalOptions: async (held) => disconnectOptions(deps, await signedIn(held)),
    removeProvider: async ({ proof, ...held }) => done(disconnect(deps, await signedIn(held), proof)),
    revokeSession: async ({ id, ...held }) => done(revokeSession(deps, await signedIn(held), id)),
    signOut: async (held) => {
      const { session } = await signedIn(held);
      await endSessions(deps.db.sql, session.personId, session.id);
      return {};
    },
    chooseNotifications: async ({ gateway: gatewayId, kinds, language, ...held }) =>
      done(chooseNotifications(deps, await signedIn(held), { gatewayId, kinds, language })),
    gatewayActOptions: async ({ cookie, address, ...asked }) => gatewayActOptions(deps, await signedIn({ cookie, address }), asked),
    reviewCashout: async ({ cookie, address, ...asked }) => reviewCashout(deps, await signedIn({ cookie, address }), asked),
    doGatewayAct: async ({ cookie, address, ...asked }) => doGatewayAct(deps, await signedIn({ cookie, address }), asked),
    operatorActOptions: async ({ cookie, address, ...asked }) => operatorActOptions(deps, await signedIn({ cookie, address }), asked),
    doOperatorAct: async ({ cookie, address, ...asked }) => doOperatorAct(deps, await signedIn({ cookie, address }), asked),
  };
}

async function done(work: Promise<void>): Promise<object> {
  await work;
  return {};
}

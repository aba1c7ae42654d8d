import type { ProfileScreen, Screen } from '#api/console/page/model.ts';
import { PROVIDER_CALLBACK } from '#api/clients/provider-callback.ts';
import { readLink } from '#api/people/mailed-link.ts';
import { readInvitation } from '#api/people/sign-in.ts';
import { showAuthenticator } from '#api/store/authenticators.ts';
import { showIdentity } from '#api/store/identities.ts';
import { listPasskeys } from '#api/store/passkeys.ts';
import { listMemberships, listRoles } from '#api/store/people.ts';
import { listChoices, NOTIFICATION_KINDS } from '#api/store/notifications.ts';
import { kindsFor } from '#api/people/notifications.ts';
import { listSessions } from '#api/store/sessions.ts';
import { cookieNamed, PROVIDER_COOKIE } from './console-request.ts';
import { type Answer, cookieOf, field, held, languageOf, OPERATORS, proofOf, type Route, signed, type Visit, visitor } from './console-visit.ts';

/** Longer than any e-mail address. */
const LONGEST_ADDRESS = 320;

/** Where people come in, and look after how they do. */
export const PEOPLE_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/sign-in', signedIn: false, run: async (visit) => (visit.session === undefined ? { screen: signInScreen(visit) } : { to: '/' }) },
  { method: 'POST', path: '/sign-in/options', signedIn: false, run: async ({ desk, address }) => ({ json: await desk.signInOptions({ address }) }) },
  {
    method: 'POST',
    path: '/sign-in',
    signedIn: false,
    run: async (visit) => ({
      to: '/',
      ...(await visit.desk.signIn({ credential: field(visit, 'credential'), visitor: visitor(visit), cookie: cookieOf(visit) })),
    }),
  },
  {
    method: 'POST',
    path: '/sign-in/mail',
    signedIn: false,
    async run(visit) {
      await visit.desk.mailLink({ email: field(visit, 'email').slice(0, LONGEST_ADDRESS), visitor: visitor(visit) });
      return { screen: { kind: 'link-sent' } };
    },
  },
  // Followed as a link, since a form of these pages leads nowhere else.
  {
    method: 'GET',
    path: '/sign-in/provider',
    signedIn: false,
    async run({ desk, address }) {
      const { url, browser } = await desk.beginProviderSignIn({ address });
      return { to: url, provider: browser };
    },
  },
  // What changes here was agreed to in this browser, which has the other half of what the answer counts for.
  {
    method: 'GET',
    path: PROVIDER_CALLBACK,
    signedIn: false,
    async run(visit) {
      const browser = cookieNamed(visit.request, PROVIDER_COOKIE) ?? '';
      const query = new URL(visit.request.url, 'http://console').search;
      const { cookie } = await visit.desk.finishProviderSignIn({ query, browser, visitor: visitor(visit), cookie: cookieOf(visit) });
      return cookie === null ? { to: '/profile', provider: null } : { to: '/', cookie, provider: null };
    },
  },
  // Looking at a link uses nothing up: scanners of mail do it before people.
  { method: 'GET', path: '/sign-in/link/{token}', signedIn: false, run: async (visit, { token = '' }) => ({ screen: await mailedLink(visit, token) }) },
  {
    method: 'POST',
    path: '/sign-in/link/{token}',
    signedIn: false,
    run: async (visit, { token = '' }) => ({
      to: '/',
      ...(await visit.desk.signInByLink({ token, code: field(visit, 'code'), visitor: visitor(visit), cookie: cookieOf(visit) })),
    }),
  },
  {
    method: 'GET',
    path: '/invitations/{token}',
    signedIn: false,
    async run(visit, { token = '' }) {
      return { screen: await invitation(visit, token) };
    },
  },
  {
    method: 'POST',
    path: '/invitations/{token}/options',
    signedIn: false,
    run: async ({ desk, address }, { token = '' }) => ({ json: await desk.invitationOptions({ token, address }) }),
  },
  {
    method: 'POST',
    path: '/invitations/{token}',
    signedIn: false,
    async run(visit, { token = '' }) {
      const given = { token, credential: field(visit, 'credential'), visitor: visitor(visit), cookie: cookieOf(visit) };
      const { cookie } = await visit.desk.acceptInvitation(given);
      return { to: '/', ...(cookie !== null && { cookie }) };
    },
  },
  {
    method: 'GET',
    path: '/',
    signedIn: true,
    async run(visit) {
      const places = await listMemberships(visit.deps.db.sql, signed(visit).session.personId);
      return {
        screen: {
          kind: 'places',
          places: places.map(({ gatewayId, gatewayName: name, role }) => ({ href: gatewayId === null ? OPERATORS : `/g/${gatewayId}`, name, role })),
        },
      };
    },
  },
  { method: 'GET', path: '/profile', signedIn: true, run: async (visit) => ({ screen: await profile(visit) }) },
  {
    method: 'POST',
    path: '/profile/passkeys/options',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.newPasskeyOptions(held(visit)) }),
  },
  {
    method: 'POST',
    path: '/profile/passkeys/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.passkeyProofOptions({ ...held(visit), credential: field(visit, 'credential') }) }),
  },
  {
    method: 'POST',
    path: '/profile/passkeys',
    signedIn: true,
    run: (visit) => changed(visit.desk.addPasskey({ ...held(visit), credential: field(visit, 'credential'), proof: proofOf(visit) })),
  },
  {
    method: 'POST',
    path: '/profile/authenticator/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.authenticatorProofOptions(held(visit)) }),
  },
  // What is shown once is the answer itself: a page that it led to would have to find it somewhere.
  {
    method: 'POST',
    path: '/profile/authenticator',
    signedIn: true,
    run: async (visit) => ({ screen: { kind: 'authenticator', ...(await visit.desk.makeAuthenticator({ ...held(visit), proof: proofOf(visit) })) } }),
  },
  {
    method: 'POST',
    path: '/profile/authenticator/start',
    signedIn: true,
    run: async (visit) => ({ screen: { kind: 'recovery-codes', ...(await visit.desk.startAuthenticator({ ...held(visit), code: field(visit, 'code') })) } }),
  },
  {
    method: 'POST',
    path: '/profile/authenticator/remove/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.authenticatorRemovalOptions(held(visit)) }),
  },
  {
    method: 'POST',
    path: '/profile/authenticator/remove',
    signedIn: true,
    run: (visit) => changed(visit.desk.removeAuthenticator({ ...held(visit), proof: proofOf(visit) })),
  },
  {
    method: 'POST',
    path: '/profile/passkeys/remove/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.passkeyRemovalOptions({ ...held(visit), id: field(visit, 'id') }) }),
  },
  {
    method: 'POST',
    path: '/profile/passkeys/remove',
    signedIn: true,
    run: (visit) => changed(visit.desk.removePasskey({ ...held(visit), id: field(visit, 'id'), proof: proofOf(visit) })),
  },
  {
    method: 'POST',
    path: '/profile/provider/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.providerProofOptions(held(visit)) }),
  },
  {
    method: 'POST',
    path: '/profile/provider',
    signedIn: true,
    async run(visit) {
      const { url, browser } = await visit.desk.connectProvider({ ...held(visit), proof: proofOf(visit) });
      return { screen: { kind: 'provider-leave', url, name: visit.deps.config.SLUICE_OIDC_NAME ?? '' }, provider: browser };
    },
  },
  {
    method: 'POST',
    path: '/profile/provider/remove/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.providerRemovalOptions(held(visit)) }),
  },
  {
    method: 'POST',
    path: '/profile/provider/remove',
    signedIn: true,
    run: (visit) => changed(visit.desk.removeProvider({ ...held(visit), proof: proofOf(visit) })),
  },
  {
    method: 'POST',
    path: '/profile/notifications',
    signedIn: true,
    run: async (visit) => {
      const kinds = NOTIFICATION_KINDS.filter((kind) => visit.form.get(`tell:${kind}`) === 'on');
      return changed(visit.desk.chooseNotifications({ ...held(visit), gateway: field(visit, 'gateway'), kinds, language: languageOf(visit).tag }));
    },
  },
  {
    method: 'POST',
    path: '/profile/sessions/revoke',
    signedIn: true,
    run: (visit) => changed(visit.desk.revokeSession({ ...held(visit), id: field(visit, 'id') })),
  },
  {
    method: 'POST',
    path: '/sign-out',
    signedIn: true,
    async run(visit) {
      await visit.desk.signOut(held(visit));
      return { to: '/sign-in', cookie: null };
    },
  },
];

/** Where somebody signs in. */
export function signInScreen({ deps }: Visit): Screen {
  return { kind: 'sign-in', provider: deps.config.SLUICE_OIDC_NAME ?? null };
}

/** The page of a mailed link, which uses nothing up. @throws not_found */
export async function mailedLink({ deps }: Visit, token: string): Promise<Screen> {
  const { email } = await readLink(deps, token);
  return { kind: 'link', action: `/sign-in/link/${encodeURIComponent(token)}`, email };
}

async function invitation({ deps, session }: Visit, token: string): Promise<Screen> {
  const { email, gatewayName, role, holderId } = await readInvitation(deps, token);
  const by = holderId === null ? 'passkey' : holderId === session?.personId ? 'session' : 'sign-in';
  return { kind: 'invitation', action: `/invitations/${encodeURIComponent(token)}`, email, place: gatewayName, role, by };
}

/** What a person signs in with, and where they are signed in. */
export async function profile(visit: Visit): Promise<Screen> {
  const { session } = signed(visit);
  const { sql } = visit.deps.db;
  const name = visit.deps.config.SLUICE_OIDC_NAME;
  const [passkeys, sessions, authenticator, since] = await Promise.all([
    listPasskeys(sql, session.personId),
    listSessions(sql, session.personId),
    showAuthenticator(sql, session.personId),
    showIdentity(sql, session.personId),
  ]);
  return {
    kind: 'profile',
    notifications: await notificationsOf(visit, session.personId),
    provider: name === undefined ? null : { name, since: since?.toISOString() ?? null },
    authenticator: { ...authenticator, since: authenticator.since?.toISOString() ?? null },
    passkeys: passkeys.map(({ id, createdAt, usedAt }) => ({
      id,
      createdAt: createdAt.toISOString(),
      usedAt: usedAt?.toISOString() ?? null,
      only: passkeys.length === 1,
    })),
    sessions: sessions.map(({ id, browser, address, createdAt, seenAt }) => ({
      id,
      browser,
      address,
      createdAt: createdAt.toISOString(),
      seenAt: seenAt.toISOString(),
      here: id === session.id,
    })),
  };
}

/** What a person may be mailed of each gateway of theirs, and what of it they chose. */
async function notificationsOf({ deps: { db } }: Visit, personId: string): Promise<ProfileScreen['notifications']> {
  const [places, roles, choices] = await Promise.all([listMemberships(db.sql, personId), listRoles(db.sql), listChoices(db.sql, personId)]);
  return places.flatMap(({ gatewayId, gatewayName, role }) => {
    const may = kindsFor(roles.find(({ name }) => name === role)?.permissions ?? []);
    if (gatewayId === null || may.length === 0) return [];
    return [
      { gatewayId, name: gatewayName ?? '', kinds: may.map((kind) => ({ kind, on: choices.some((one) => one.gatewayId === gatewayId && one.kind === kind) })) },
    ];
  });
}

async function changed(work: Promise<object>): Promise<Answer> {
  await work;
  return { to: '/profile' };
}

import { timingSafeEqual } from 'node:crypto';
import express, { type Express, type Request, type Response } from 'express';
import type { Deps } from '#api/deps.ts';
import { DESK_CALLS, type PeopleDesk } from '#api/people/desk.ts';
import { hashToken } from '#api/people/one-time-token.ts';
import { findSession } from '#api/store/sessions.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { successBody } from '#shared/core/reply-body.ts';
import { readBody } from './body.ts';
import { send } from './envelope.ts';
import { answerErrors, notesOf, observe } from './observe.ts';
import { rateLimit } from './rate-limit.ts';
import { digest } from './security.ts';
import { parseStrictJson } from './strict-json.ts';

/** Where the console asks; what follows it is the name of a call. */
export const PEOPLE_DESK_PATH = '/internal/v1/people';

/** One budget for whatever the console asks on behalf of strangers, and another one for those who are signed in. */
const EVERYBODY = '0.0.0.0';

/** The address that a call is made for, as the console says. Pure. */
function addressOf(asked: { address: string } | { visitor: { address: string } }): string {
  return 'visitor' in asked ? asked.visitor.address : asked.address;
}

/** Strangers use up what strangers have, behind one address and together, and keep nobody from working who is signed in. */
async function isSignedIn({ db }: Deps, asked: object): Promise<boolean> {
  const cookie = 'cookie' in asked && typeof asked.cookie === 'string' ? asked.cookie : undefined;
  return cookie !== undefined && (await findSession(db.sql, hashToken(cookie))) !== undefined;
}

/**
 * Builds what listens for the console, and for nobody else: every call of the desk as a POST of its own, with the key that both processes have. The key says that the
 * console asks; who is to be believed, the desk proves by itself. While the key is changed, the one before it is believed too.
 */
export function createPeopleDeskApp(deps: Deps, desk: PeopleDesk): Express {
  const { SLUICE_INTERNAL_KEY: own, SLUICE_INTERNAL_KEY_PREVIOUS: before = own } = deps.config;
  if (own === undefined || before === undefined) throw new Invariant('there is no key for the internal listener');
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(observe(deps));
  app.post(`${PEOPLE_DESK_PATH}/:call`, async (request: Request, response: Response) => {
    const given = digest(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '');
    // Both are compared, whatever the first one says.
    const [isOwn, isBefore] = [timingSafeEqual(given, digest(own)), timingSafeEqual(given, digest(before))];
    if (!isOwn && !isBefore) throw new ServiceError('operator_token_invalid', { message: 'The key of the internal listener is missing or wrong.' });
    const name = request.params.call as keyof PeopleDesk;
    if (!Object.hasOwn(DESK_CALLS, name)) throw new ServiceError('not_found');
    notesOf(response).route = `${PEOPLE_DESK_PATH}/${name}`;
    const asked = DESK_CALLS[name].safeParse(parseStrictJson(await readBody(request, response)));
    if (!asked.success) throw invalid(asked.error.issues[0]?.path.join('.') || 'body', asked.error.issues[0]?.message ?? 'is not valid');
    // First: an address that asks too much takes nothing from what everybody shares.
    const signedIn = await isSignedIn(deps, asked.data);
    await rateLimit(deps, { operationId: signedIn ? 'peopleDeskPerson' : 'peopleDesk', clientIp: addressOf(asked.data) });
    await rateLimit(deps, { operationId: signedIn ? 'peopleDeskSignedIn' : 'peopleDeskAll', clientIp: EVERYBODY });
    const answer = await (desk[name] as (asked: unknown) => Promise<object>)(asked.data);
    send(response, 200, successBody(answer));
  });
  app.use(() => {
    throw new ServiceError('not_found');
  });
  app.use(answerErrors(deps));
  return app;
}

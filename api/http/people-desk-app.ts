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

/** One budget for whatever the console asks on behalf of strangers. */
const EVERYBODY = '0.0.0.0';

/** Acts that cost what the operation costs which they lead to, such as looking on every network: nobody does them more often here than there. */
const AS_RARE_AS: Readonly<Record<string, string>> = { 'payment-inquire': 'inquirePayment' };

/** The address that a call is made for, as the console says. Pure. */
function addressOf(asked: { address: string } | { visitor: { address: string } }): string {
  return 'visitor' in asked ? asked.visitor.address : asked.address;
}

/**
 * Takes a call from its budget: of whoever is signed in it is their own, wherever they ask from, so that nobody with many addresses keeps others from working. Strangers use up
 * what strangers have, behind one address and together. @throws rate_limit_exceeded
 */
async function takeFromBudget(deps: Deps, asked: Parameters<typeof addressOf>[0]): Promise<void> {
  const cookie = 'cookie' in asked && typeof asked.cookie === 'string' ? asked.cookie : undefined;
  const session = cookie === undefined ? undefined : await findSession(deps.db.sql, hashToken(cookie));
  if (session !== undefined) {
    await rateLimit(deps, { operationId: 'peopleDeskPerson', clientIp: session.personId });
    const operationId = 'act' in asked ? AS_RARE_AS[String(asked.act)] : undefined;
    if (operationId !== undefined) await rateLimit(deps, { operationId, clientIp: session.personId });
    return;
  }
  // First: an address that asks too much takes nothing from what everybody shares.
  await rateLimit(deps, { operationId: 'peopleDesk', clientIp: addressOf(asked) });
  await rateLimit(deps, { operationId: 'peopleDeskAll', clientIp: EVERYBODY });
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
    await takeFromBudget(deps, asked.data);
    const answer = await (desk[name] as (asked: unknown) => Promise<object>)(asked.data);
    send(response, 200, successBody(answer));
  });
  app.use(() => {
    throw new ServiceError('not_found');
  });
  app.use(answerErrors(deps));
  return app;
}

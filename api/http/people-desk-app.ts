import { timingSafeEqual } from 'node:crypto';
import express, { type Express, type Request, type Response } from 'express';
import type { Deps } from '#api/deps.ts';
import { DESK_CALLS, type PeopleDesk } from '#api/people/desk.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { successBody } from '#shared/core/reply-body.ts';
import { readBody } from './body.ts';
import { send } from './envelope.ts';
import { answerErrors, notesOf, observe } from './observe.ts';
import { digest } from './security.ts';
import { parseStrictJson } from './strict-json.ts';

/** Where the console asks; what follows it is the name of a call. */
export const PEOPLE_DESK_PATH = '/internal/v1/people';

/**
 * Builds what listens for the console, and for nobody else: every call of the desk as a POST of its own, with the key that both processes have. The key says that the
 * console asks; who is to be believed, the desk proves by itself.
 */
export function createPeopleDeskApp(deps: Deps, desk: PeopleDesk): Express {
  const own = deps.config.SLUICE_INTERNAL_KEY;
  if (own === undefined) throw new Invariant('there is no key for the internal listener');
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(observe(deps));
  app.post(`${PEOPLE_DESK_PATH}/:call`, async (request: Request, response: Response) => {
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (!timingSafeEqual(digest(given ?? ''), digest(own)))
      throw new ServiceError('operator_token_invalid', { message: 'The key of the internal listener is missing or wrong.' });
    const name = request.params.call as keyof PeopleDesk;
    if (!Object.hasOwn(DESK_CALLS, name)) throw new ServiceError('not_found');
    notesOf(response).route = `${PEOPLE_DESK_PATH}/${name}`;
    const asked = DESK_CALLS[name].safeParse(parseStrictJson(await readBody(request, response)));
    if (!asked.success) throw invalid(asked.error.issues[0]?.path.join('.') || 'body', asked.error.issues[0]?.message ?? 'is not valid');
    const answer = await (desk[name] as (asked: unknown) => Promise<object>)(asked.data);
    send(response, 200, successBody(answer));
  });
  app.use(() => {
    throw new ServiceError('not_found');
  });
  app.use(answerErrors(deps));
  return app;
}

import type { RequestHandler } from 'express';
import type { Document } from 'openapi-backend';
import { enterGateway } from '#api/people/places.ts';
import { readSession } from '#api/people/sign-in.ts';
import type { Deps } from '#api/deps.ts';
import { merchantReads } from '#api/operations/merchant-reads.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { contractRouter } from './contract-router.ts';
import { consoleCookie, refuseForeign } from './console-request.ts';
import type { Scheme } from './security.ts';

/** Names the gateway that a person asks about, who may belong to several. */
const GATEWAY_HEADER = 'x-gateway';

/**
 * Serves to people what keys may read: every operation of the merchant contract that changes nothing, by a session and the gateway that `X-Gateway` names, with the
 * permissions of their role there. The same code answers; a request of another site's page is refused (console 5).
 */
export async function consoleApiRouter(
  deps: Deps,
  { document, apiRoot, ownOrigin }: { document: Document; apiRoot: string; ownOrigin: string },
): Promise<RequestHandler> {
  const reads = readsOf(document);
  return contractRouter(deps, {
    document: reads,
    apiRoot,
    schemes: { apiKey: session, signedRequest: session },
    operations: merchantReads,
    budget: () => 'consolePage',
    gate: (request) => refuseForeign(request, ownOrigin),
  });
}

/** A person by their session, at a gateway of theirs. @throws auth_api_key_invalid without a session; not_found for a gateway that is not theirs; forbidden */
const session: Scheme = async (deps, { request, permissions }) => {
  const who = await readSession(deps, consoleCookie(request));
  if (who === undefined) throw new ServiceError('auth_api_key_invalid', { message: 'Nobody is signed in: the session is missing, unknown, or has ended.' });
  const place = await enterGateway(deps, { personId: who.personId, gatewayId: String(request.headers[GATEWAY_HEADER] ?? '') });
  const lacking = permissions.find((one) => !place.permissions.includes(one));
  if (lacking !== undefined) throw new ServiceError('forbidden', { message: `The role ${place.role} lacks the permission ${lacking}.` });
  return { gateway: place.gateway };
};

/** What a session stands in for. */
const SIGNING = ['#/components/parameters/Timestamp', '#/components/parameters/Signature'];

/** The contract with these operations alone, and without the headers that sign a request. Pure. */
function readsOf(document: Document): Document {
  const paths = Object.entries(document.paths ?? {}).flatMap(([path, item]) => {
    const { get, parameters } = item ?? {};
    if (get?.operationId === undefined || !(get.operationId in merchantReads)) return [];
    const unsigned = { ...get, parameters: get.parameters?.filter((one) => !('$ref' in one && SIGNING.includes(one.$ref))) ?? [] };
    return [[path, { get: unsigned, ...(parameters !== undefined && { parameters }) }]];
  });
  return { ...document, paths: Object.fromEntries(paths) } as Document;
}

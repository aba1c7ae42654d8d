import { isGatewayAct, pathAfterAct, screenAfterAct } from '#api/console/after-act.ts';
import { isOperatorAct, pathAfterOperatorAct, pathOfOperatorForm, screenAfterOperatorAct } from '#api/console/after-operator-act.ts';
import { GATEWAY_SCREENS, type GatewayScreen } from '#api/console/gateway-screens.ts';
import { OPERATOR_PAGES, type OperatorPage } from '#api/console/operator-screens.ts';
import type { Screen } from '#api/console/page/model.ts';
import { READ_EVERYTHING } from '#api/console/page/operator-sections.ts';
import { permissionOf, type Section, SECTIONS } from '#api/console/page/sections.ts';
import { triedGateway } from '#api/console/settings-screen.ts';
import type { Deps } from '#api/deps.ts';
import { type Marked, readChangeMarks } from '#api/store/change-marks.ts';
import { readLogoImage } from '#api/gateways/logo-image.ts';
import { findLogo } from '#api/store/gateway-logos.ts';
import { readExportFile, READS_AUDIT } from '#api/exports/exports.ts';
import type { AskedAct } from '#api/people/do-gateway-act.ts';
import type { AskedOperatorAct } from '#api/people/do-operator-act.ts';
import { wholeRecord } from '#api/exports/whole-record.ts';
import { enterDeployment, enterGateway } from '#api/people/places.ts';
import { displayNameOf } from '#shared/chains/networks.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { drawPreview } from './checkout-preview.ts';
import { uploadedFile } from './uploaded-file.ts';
import { type Answer, held, languageOf, namedIn, OPERATORS, proofOf, queryOf, type Route, signed, type Visit } from './console-visit.ts';

/** Where a form of a gateway's page is sent that changes something. */
export const ACT_PATH = '/g/{gateway}/acts/{act}';
/** The same of the deployment's pages. */
export const OPERATOR_ACT_PATH = `${OPERATORS}/acts/{act}`;
/** Where a cashout is looked at before it is asked for. */
export const REVIEW_PATH = '/g/{gateway}/cashouts/review';

/** Behind the path of a page: where changes of what it shows are told. */
const CHANGES = '/changes';

/** Where a logo is sent before it is anybody's, and where the one that is shown is looked at. */
const LOGO_PATH = '/g/{gateway}/settings/logo';

/** Pages of gateways and of the deployment, and what is done there. */
export const PLACE_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/g/{gateway}', signedIn: true, run: beginningOf },
  {
    method: 'POST',
    path: '/g/{gateway}/acts/{act}/proof',
    signedIn: true,
    run: async (visit, named) => ({ json: await visit.desk.gatewayActOptions({ ...held(visit), ...askedActOf(visit, named) }) }),
  },
  { method: 'GET', path: '/g/{gateway}/exports/{id}/file', signedIn: true, run: exportFile },
  { method: 'GET', path: '/g/{gateway}/settings/preview', signedIn: true, run: previewOf },
  { method: 'GET', path: LOGO_PATH, signedIn: true, run: ownLogo },
  { method: 'POST', path: LOGO_PATH, signedIn: true, run: reviewLogo },
  { method: 'POST', path: ACT_PATH, signedIn: true, run: gatewayAct },
  { method: 'POST', path: REVIEW_PATH, signedIn: true, run: reviewCashout },
  ...GATEWAY_SCREENS.filter(({ follows }) => follows !== undefined).map(
    (screen): Route => ({
      method: 'GET',
      path: `/g/{gateway}${screen.path}${CHANGES}`,
      signedIn: true,
      run: (visit, { gateway = '', id = '' }) => followGateway(screen, visit, { gateway, id }),
    }),
  ),
  ...GATEWAY_SCREENS.map(
    (screen): Route => ({ method: 'GET', path: `/g/{gateway}${screen.path}`, signedIn: true, run: (visit, named) => gatewayScreen(screen, visit, named) }),
  ),
  {
    method: 'POST',
    path: `${OPERATOR_ACT_PATH}/proof`,
    signedIn: true,
    run: async (visit, named) => ({ json: await visit.desk.operatorActOptions({ ...held(visit), ...askedOperatorActOf(visit, named) }) }),
  },
  { method: 'GET', path: `${OPERATORS}/audit/acts/file`, signedIn: true, run: actsFile },
  { method: 'POST', path: OPERATOR_ACT_PATH, signedIn: true, run: operatorAct },
  { method: 'GET', path: OPERATORS, signedIn: true, run: async () => ({ to: `${OPERATORS}/overview` }) },
  ...OPERATOR_PAGES.filter(({ follows }) => follows !== undefined).map(
    (page): Route => ({
      method: 'GET',
      path: `${OPERATORS}${page.path}${CHANGES}`,
      signedIn: true,
      run: (visit, { id = '' }) => followDeployment(page, visit, id),
    }),
  ),
  ...OPERATOR_PAGES.map(
    (page): Route => ({ method: 'GET', path: `${OPERATORS}${page.path}`, signedIn: true, run: (visit, named) => operatorPage(page, visit, named) }),
  ),
];

/** The first part of a gateway that its person may look into. */
async function beginningOf(visit: Visit, { gateway = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const { href, permissions } = await enter(visit, gateway);
  const first = SECTIONS.find(({ permission }) => permissions.includes(permission));
  if (first === undefined) throw new ServiceError('forbidden');
  return { to: `${href}/${first.name}` };
}

async function gatewayScreen(
  { section, permission = permissionOf(section), follows, read }: GatewayScreen,
  visit: Visit,
  { gateway: gatewayId = '', id = '' }: Readonly<Record<string, string>>,
  query: URLSearchParams = new URL(visit.request.url, 'http://console').searchParams,
): Promise<Answer> {
  const { gateway, permissions, href } = await enter(visit, gatewayId, section);
  if (!permissions.includes(permission)) throw new ServiceError('forbidden');
  // Before it is read: what changes in between is told once more.
  if (follows !== undefined) visit.follows = await followed(visit, { follows, id, gatewayId: gateway.id, href: `${href}/${section}/${id}` });
  const found = await read(visit.deps, { gateway, permissions, href, personId: signed(visit).session.personId, address: visit.address, id, query });
  return 'to' in found ? found : { screen: found };
}

/** Where a page tells of changes; null for a page of what is not there. */
async function followed(
  { deps }: Visit,
  { follows, id, gatewayId, href }: { follows: Marked; id: string; gatewayId: string | null; href: string },
): Promise<Visit['follows']> {
  const mark = await markOf(deps, { follows, id, gatewayId });
  return mark === undefined ? null : { path: `${href}${CHANGES}`, mark };
}

/** The mark of something of this gateway, or of any where none is named. */
async function markOf({ db }: Deps, { follows, id, gatewayId }: { follows: Marked; id: string; gatewayId: string | null }): Promise<string | undefined> {
  const [found] = isUuid(id) ? await readChangeMarks(db.sql, follows, [id]) : [];
  return found !== undefined && (gatewayId === null || found.gatewayId === gatewayId) ? found.mark : undefined;
}

/** Tells of changes of what a page of a gateway shows, as long as its reader may read it. @throws not_found, forbidden */
async function followGateway(
  { section, permission = permissionOf(section), follows }: GatewayScreen,
  visit: Visit,
  named: { gateway: string; id: string },
): Promise<Answer> {
  const admit = async (): Promise<void> => {
    const { permissions } = await enter(visit, named.gateway, section);
    if (!permissions.includes(permission)) throw new ServiceError('forbidden');
  };
  await admit();
  return follow(visit, { follows, id: named.id, gatewayId: named.gateway, admit });
}

/** The same of a page of the deployment. @throws not_found, forbidden */
async function followDeployment({ section, follows }: OperatorPage, visit: Visit, id: string): Promise<Answer> {
  const admit = async (): Promise<void> => {
    if (!(await enterOperators(visit, section)).includes(READ_EVERYTHING)) throw new ServiceError('forbidden');
  };
  await admit();
  return follow(visit, { follows, id, gatewayId: null, admit });
}

async function follow(
  visit: Visit,
  { follows: what = 'payment', id, gatewayId, admit }: { follows: Marked | undefined; id: string; gatewayId: string | null; admit(): Promise<void> },
): Promise<Answer> {
  if ((await markOf(visit.deps, { follows: what, id, gatewayId })) === undefined) throw new ServiceError('not_found');
  const { id: sessionId, personId } = signed(visit).session;
  return { follow: { what, id, sessionId, personId, place: gatewayId ?? OPERATORS, admit } };
}

async function operatorPage({ section, follows, read }: OperatorPage, visit: Visit, { id = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const permissions = await enterOperators(visit, section);
  if (!permissions.includes(READ_EVERYTHING)) throw new ServiceError('forbidden');
  if (follows !== undefined) visit.follows = await followed(visit, { follows, id, gatewayId: null, href: `${OPERATORS}/${section}/${id}` });
  const found = await read(visit.deps, { id, query: queryOf(visit), you: signed(visit).session.email });
  return 'to' in found ? { to: `${OPERATORS}${found.to}` } : { screen: found };
}

/** The whole record of acts as a file, oldest first, so that each row follows the one before it. */
async function actsFile(visit: Visit): Promise<Answer> {
  const permissions = await enterOperators(visit, 'audit');
  if (!permissions.includes(READ_EVERYTHING)) throw new ServiceError('forbidden');
  return { lines: wholeRecord(visit.deps, queryOf(visit).get('format') === 'csv' ? 'csv' : 'jsonl') };
}

/** Has something done at the deployment, and shows the page where it is seen. */
async function operatorAct(visit: Visit, named: Readonly<Record<string, string>>): Promise<Answer> {
  await enterOperators(visit);
  const asked = askedOperatorActOf(visit, named);
  const shown = await visit.desk.doOperatorAct({ ...held(visit), ...asked, proof: proofOf(visit) });
  return screenAfterOperatorAct(asked.act, asked.fields, shown) ?? { to: `${OPERATORS}${pathAfterOperatorAct(asked.act, asked.fields, shown)}` };
}

/** Lets an operator in; from then on what goes wrong is shown among their pages. @throws not_found */
async function enterOperators(visit: Visit, section: OperatorPage['section'] | null = null): Promise<readonly string[]> {
  const { role, permissions } = await enterDeployment(visit.deps, { personId: signed(visit).session.personId });
  visit.place = { href: OPERATORS, name: null, role, permissions, section, networks: networkTitles(visit.deps) };
  return permissions;
}

/** Lets a person into a gateway; from then on what goes wrong is shown inside of it. @throws not_found */
async function enter(visit: Visit, gatewayId: string, section: Section | null = null) {
  const { session } = signed(visit);
  const { gateway, role, permissions } = await enterGateway(visit.deps, { personId: session.personId, gatewayId });
  const href = `/g/${gateway.id}`;
  visit.place = { href, name: gateway.name, role, permissions, section, networks: networkTitles(visit.deps) };
  return { gateway, permissions, href };
}

/** What people call each network. */
function networkTitles({ chains }: Deps): Record<string, string> {
  return Object.fromEntries([...chains].map(([name, { config }]) => [name, displayNameOf(config)]));
}

/** Has something done, and shows the page that it was asked for on. */
async function gatewayAct(visit: Visit, named: Readonly<Record<string, string>>): Promise<Answer> {
  const { href } = await enter(visit, named.gateway ?? '');
  const asked = askedActOf(visit, named);
  const shown = await visit.desk.doGatewayAct({ ...held(visit), ...asked, proof: proofOf(visit) });
  const made = 'id' in shown && typeof shown.id === 'string' ? { made: shown.id } : {};
  return screenAfterAct(asked.act, shown) ?? { to: `${href}${pathAfterAct(asked.act, { ...asked.fields, ...made })}` };
}

async function exportFile(visit: Visit, { gateway: gatewayId = '', id = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const { gateway, permissions } = await enter(visit, gatewayId, 'reports');
  if (!permissions.includes('report:export')) throw new ServiceError('forbidden');
  return { file: await readExportFile(visit.deps, { gateway, id, audit: permissions.includes(READS_AUDIT) }) };
}

/** A page of the checkout in a gateway's looks, as they are or as they are being tried. */
async function previewOf(visit: Visit, { gateway: gatewayId = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const { gateway, permissions, href } = await enter(visit, gatewayId, 'settings');
  if (!permissions.includes(permissionOf('settings'))) throw new ServiceError('forbidden');
  // As a page of its own it would say at our address whatever a link has it say.
  if (!['iframe', undefined].includes(visit.request.headers['sec-fetch-dest'])) throw new ServiceError('not_found');
  const { settings, name } = triedGateway(gateway, queryOf(visit));
  const { checkout } = visit;
  return {
    framed: drawPreview(checkout, { name, settings, scene: queryOf(visit).get('scene'), language: languageOf(visit).tag, logoPath: `${href}/settings/logo` }),
  };
}

async function ownLogo(visit: Visit, { gateway: gatewayId = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const { gateway, permissions } = await enter(visit, gatewayId, 'settings');
  if (!permissions.includes(permissionOf('settings'))) throw new ServiceError('forbidden');
  const { logo = null } = gateway.settings.branding;
  const found = logo === null ? undefined : await findLogo(visit.deps.db.sql, gateway.id, logo);
  if (found === undefined) throw new ServiceError('not_found');
  return { logo: found };
}

/** Looks at what somebody sent; nothing of it is kept but in the form that asks for it. */
async function reviewLogo(visit: Visit, { gateway: gatewayId = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const { gateway, permissions } = await enter(visit, gatewayId, 'settings');
  if (!permissions.includes(permissionOf('settings'))) throw new ServiceError('forbidden');
  const body = uploadedFile(visit.body, visit.request.headers['content-type'], 'logo');
  const image = readLogoImage(body);
  return { screen: { kind: 'logo-review', ...image, bytes: body.length, image: body.toString('base64'), seen: gateway.settings.branding.logo ?? null } };
}

async function reviewCashout(visit: Visit, { gateway = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  await enter(visit, gateway, 'cashouts');
  const fields = Object.fromEntries([...visit.form].filter(([, value]) => value !== ''));
  return { screen: { kind: 'review-cashout', review: await visit.desk.reviewCashout({ ...held(visit), gateway, fields }), fields } };
}

/** The page that an act was asked for on, with what stood in its way: it may have been done by somebody else meanwhile. What was filled in stays. */
export async function afterRefusedAct(visit: Visit, route: Route): Promise<Screen | undefined> {
  const named = namedIn(route.path, visit.request.path) ?? {};
  const asked = route.path === REVIEW_PATH ? undefined : askedActOf(visit, named);
  const path = asked === undefined || asked.act === 'settlement-create' ? '/cashouts/new' : pathAfterAct(asked.act, asked.fields);
  const screen = GATEWAY_SCREENS.find((one) => namedIn(one.path, path) !== undefined);
  const answer = screen && (await gatewayScreen(screen, visit, { ...named, ...namedIn(screen.path, path) }, visit.form).catch(() => undefined));
  return answer !== undefined && 'screen' in answer ? answer.screen : undefined;
}

/** The page that an operator's act was asked for on, with what stood in its way. */
export async function afterRefusedOperatorAct(visit: Visit, route: Route): Promise<Screen | undefined> {
  const { act, fields } = askedOperatorActOf(visit, namedIn(route.path, visit.request.path) ?? {});
  const path = pathOfOperatorForm(act, fields);
  const page = OPERATOR_PAGES.find((one) => namedIn(one.path, path) !== undefined);
  const answer = page && (await operatorPage(page, visit, namedIn(page.path, path) ?? {}).catch(() => undefined));
  return answer !== undefined && 'screen' in answer ? answer.screen : undefined;
}

/** @throws not_found for what nobody can do */
function askedOperatorActOf({ form }: Visit, { act = '' }: Readonly<Record<string, string>>): AskedOperatorAct {
  if (!isOperatorAct(act)) throw new ServiceError('not_found');
  return { act, fields: Object.fromEntries([...form].filter(([name, value]) => !PROOFS.includes(name) && value !== '')) };
}

/** @throws not_found for what nobody can do */
function askedActOf({ form }: Visit, { gateway = '', act = '' }: Readonly<Record<string, string>>): AskedAct {
  if (!isGatewayAct(act)) throw new ServiceError('not_found');
  const fields = Object.fromEntries([...form].filter(([name, value]) => !PROOFS.includes(name) && value !== ''));
  return { gateway, act, fields };
}

/** Fields that prove an act, and are no part of it. */
const PROOFS = ['proof', 'code', 'credential'];

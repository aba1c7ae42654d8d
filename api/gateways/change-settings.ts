import type { Gateway } from '#api/deps.ts';
import { keepLogo } from '#api/store/gateway-logos.ts';
import { listAssets } from '#api/store/assets.ts';
import { listShownNames, lockGateway, lockShownNames, type StoredGateway, updateGateway } from '#api/store/gateways.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { nameSkeleton } from '#shared/core/name-skeleton.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { noteAllowlists } from './allowlists.ts';
import { type GatewayInput, mergeGateway } from './gateway-settings.ts';
import { overriddenSettings, patchOf, type SettingsChange, writtenSettings } from './owner-settings.ts';
import { refuseMoved } from './written-setting.ts';

interface Change {
  id: string;
  /** Objects merge, arrays replace, null brings back the default. */
  patch: unknown;
  /** What addresses of its allowlists are for. */
  notes?: ReadonlyMap<string, string | null>;
  /** Refuses the change for what the gateway is under lock. */
  allow?(current: StoredGateway): void;
}

/** A gateway before and after a change, with the screening credits that the change names, which are no setting. */
interface Changed {
  before: StoredGateway;
  after: StoredGateway;
  screeningCredits: number | undefined;
}

/**
 * The one way in which settings of a gateway change, in the caller's transaction, which notes who asked. Locks the gateway.
 * @throws not_found; validation_error naming the first field at fault; whatever `allow` throws
 */
export async function changeSettings(tx: Tx, { id, patch, notes = new Map(), allow }: Change): Promise<Changed> {
  const before = await lockGateway(tx, id);
  if (before === undefined) throw new ServiceError('not_found');
  allow?.(before);
  const { screeningCredits, ...changed } = mergeGateway(before, patch);
  await refuseUnknownAssets(tx, changed);
  await noteAllowlists(tx, id, { before, now: changed, notes });
  return { before, after: await updateGateway(tx, { id, ...changed }), screeningCredits };
}

/**
 * Changes what owners set themselves, in the caller's transaction. Locks the gateway.
 * @throws conflict naming what is there now, when it is not what whoever asks saw; validation_error naming the setting, also for what the billing arrangement overrides
 */
export async function changeOwnSettings(tx: Tx, { gateway, change }: { gateway: Pick<Gateway, 'id'>; change: SettingsChange }): Promise<void> {
  const { after } = await changeSettings(tx, {
    id: gateway.id,
    patch: patchOf(change),
    allow: (current) => {
      const overridden = overriddenSettings(current.billing).find((name) => change[name] !== undefined);
      if (overridden !== undefined) throw invalid(overridden, `is overridden by the billing arrangement ${current.billing}`);
      refuseMoved(writtenSettings(current.settings), change);
    },
  });
  if (change.displayName !== undefined) await refuseAnothersName(tx, after);
}

/** What the logo of a gateway is to be, and the hash of what whoever asks saw; null is none. */
export interface LogoChange {
  seen: string | null;
  logo: { hash: string; type: string; body: Buffer } | null;
}

/** Puts a logo in the place of the one there is, in the caller's transaction. Locks the gateway. @throws conflict when another one came meanwhile */
export async function changeLogo(tx: Tx, { gateway, seen, logo }: LogoChange & { gateway: Pick<Gateway, 'id'> }): Promise<void> {
  await changeSettings(tx, {
    id: gateway.id,
    patch: { branding: { logo: logo?.hash ?? null } },
    allow: ({ settings }) => {
      if ((settings.branding.logo ?? null) !== seen) throw new ServiceError('conflict', { message: 'Somebody changed the logo meanwhile. Nothing was saved.' });
    },
  });
  if (logo !== null) await keepLogo(tx, { gatewayId: gateway.id, ...logo, shown: seen });
}

/** Refuses a name that payers could take for another shop's: they see it beside what they are asked to pay. Of two at once the later waits. @throws validation_error */
async function refuseAnothersName(tx: Tx, { id, name, settings }: StoredGateway): Promise<void> {
  await lockShownNames(tx);
  const own = nameSkeleton(settings.branding.displayName ?? name);
  for (const other of await listShownNames(tx, id))
    if (nameSkeleton(other) === own) throw invalid('displayName', 'looks like the name of another shop here; ask whoever runs this service');
}

/** @throws validation_error naming the first asset that this deployment does not have */
export async function refuseUnknownAssets(sql: Reads, input: GatewayInput): Promise<void> {
  const lists = { assetIds: input.settings.assetIds, 'openAmount.assetIds': input.settings.openAmount.assetIds };
  if (Object.values(lists).every((ids) => ids === null)) return;
  const known = new Set((await listAssets(sql)).map((asset) => asset.id));
  for (const [field, ids] of Object.entries(lists))
    for (const [index, id] of (ids ?? []).entries()) if (!known.has(id.toLowerCase())) throw invalid(`${field}.${index}`, 'is no asset of this deployment');
}

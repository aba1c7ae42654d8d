import type { Chain, Deps, Reply } from '#api/deps.ts';
import { findAsset, listAssets, type StoredAsset, upsertAsset } from '#api/store/assets.ts';
import { listNetworkStatus, findNetwork, setNetworkPaused } from '#api/store/networks.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { warningsOf } from '#shared/chains/network-warnings.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { formatAmount, parseTrusted, toUnits } from '#shared/core/money.ts';
import { tokenTypesOf } from '#shared/core/token-types.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readInteger, readMoney, readReason, readText } from './input.ts';

/** GET /networks: each with how far it was followed, and how its endpoints are doing as this process sees them. */
export async function showNetworks(deps: Deps): Promise<Reply> {
  const networks = await listNetworkStatus(deps.db.sql);
  const items = networks.map((network) => {
    const chain = deps.chains.get(network.name);
    return { ...network, endpoints: chain?.reader.endpoints() ?? [], warnings: chain === undefined ? [] : warningsOf(chain.config, chain.reader.lacking()) };
  });
  return { status: 200, data: { items } };
}

/** GET /assets: everything the deployment accepts, inactive ones included. */
export async function showAssets(deps: Deps): Promise<Reply> {
  return { status: 200, data: { items: (await listAssets(deps.db.sql)).map(assetView) } };
}

/** POST /assets: a token on one of the networks. That its contract exists is asked of the chain; its decimals are pinned here and never read from there. */
export async function addAsset(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const chain = deps.chains.get(readText(fields, 'network'));
  if (chain === undefined) throw invalid('network', 'is no network of this deployment');
  const symbol = readText(fields, 'symbol', 16);
  if (!/^[A-Z0-9.]+$/.test(symbol)) throw invalid('symbol', 'must be capital letters, digits and dots');
  const parsed = chain.codec.parse(readText(fields, 'contract'));
  if (!parsed.ok) throw invalid('contract', parsed.problem);
  const decimals = readInteger(fields, 'decimals', 0, 18);
  const types = tokenTypesOf(chain.config);
  const type = fields.type === undefined || fields.type === null ? types[0] : types.find((one) => one === fields.type);
  if (type === undefined) throw invalid('type', types.length === 0 ? 'this network has no tokens' : `must be one of ${types.join(', ')}`);
  const name = fields.name === undefined || fields.name === null ? symbol : readText(fields, 'name');
  const figures = {
    networkFee: readFigure(fields, 'networkFee', decimals) ?? '0',
    dustFloor: readFigure(fields, 'dustFloor', decimals) ?? '0',
    minimumSettlement: readFigure(fields, 'minimumSettlement', decimals) ?? null,
  };
  const reason = readReason(fields);
  await refuseWithoutCode(chain, parsed.canonical);
  const asset = await deps.db.transaction(async (tx) => {
    const id = uuidFrom(deps.randomBytes(16));
    const stored = await upsertAsset(tx, { id, networkId: chain.id, symbol, name, type, contract: parsed.canonical, decimals, ...figures });
    if (!stored.inserted) throw new ServiceError('conflict', { message: `That contract is already an asset on ${chain.config.name}: ${stored.id}.` });
    await insertOperatorAction(tx, deps.operator, {
      action: 'asset.add',
      target: id,
      reason,
      details: { network: chain.config.name, symbol, contract: parsed.canonical, decimals, ...figures },
    });
    return (await findAsset(tx, id)) as StoredAsset;
  });
  return { status: 201, data: { asset: assetView(asset) }, resourceId: asset.id };
}

/** A slip of the keyboard must not become a token: its balances could never be read, and its network would look broken. @throws validation_error, service_unavailable */
async function refuseWithoutCode({ config, reader }: Chain, contract: string): Promise<void> {
  const there = await reader.hasCode?.(contract).catch((error: unknown) => {
    if (error instanceof ChainUnavailable) throw new ServiceError('service_unavailable', { cause: error, retryAfterSeconds: 5 });
    throw error;
  });
  if (there === false) throw invalid('contract', `no contract lies there on ${config.name}`);
}

/** POST /networks/{network}/pause: no new addresses and no dispatch on it until it is resumed. */
export async function pauseNetwork(deps: Deps, call: OperatorCall): Promise<Reply> {
  return setPaused(deps, call, true);
}

/** POST /networks/{network}/resume. */
export async function resumeNetwork(deps: Deps, call: OperatorCall): Promise<Reply> {
  return setPaused(deps, call, false);
}

async function setPaused(deps: Deps, call: OperatorCall, paused: boolean): Promise<Reply> {
  const name = call.params.network ?? '';
  const reason = readReason(fieldsOf(call.body));
  await deps.db.transaction(async (tx) => {
    if (!(await setNetworkPaused(tx, name, paused))) throw new ServiceError('not_found');
    await insertOperatorAction(tx, deps.operator, { action: paused ? 'network.pause' : 'network.resume', target: name, reason });
  });
  if (!paused) deps.wake();
  return { status: 200, data: { network: await findNetwork(deps.db.sql, name) } };
}

function readFigure(fields: Record<string, unknown>, field: string, decimals: number): string | undefined {
  const text = readMoney(fields, field);
  if (text !== undefined && toUnits(parseTrusted(text), decimals) === undefined) throw invalid(field, `must not have more than ${decimals} decimal places`);
  return text;
}

function assetView(asset: StoredAsset): object {
  return {
    ...asset,
    networkFee: formatAmount(asset.networkFee),
    dustFloor: formatAmount(asset.dustFloor),
    minimumSettlement: asset.minimumSettlement === null ? null : formatAmount(asset.minimumSettlement),
  };
}

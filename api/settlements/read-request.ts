import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { invalid } from '#shared/core/errors.ts';
import type { Coins } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import type { Route } from '#state-machines/settlement/settlement.ts';
import { type Destination, readAmount, readAsset, readDestination } from '#api/treasury/destination.ts';

const ROUTES: readonly Route[] = ['GREEN', 'AML_HELD', 'SMART'];
const LABEL_LENGTH = 255;

/** Body of `POST /merchant/settlements` (contract 4.3). Its shape was checked, but every rule is checked here again. */
export interface CreateSettlementBody {
  assetId: string;
  amount: string;
  route?: string | null | undefined;
  address: string;
  label?: string | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  /** Removed in revision 2.0.0; sending it is an error that names `route`. */
  isQuarantined?: unknown;
}

/** A cashout request whose fields are all valid. */
export interface SettlementOrder {
  asset: StoredAsset;
  chain: Chain;
  destination: Destination;
  /** Exactly as sent. */
  amountText: string;
  amount: Coins;
  rawAmount: bigint;
  route: Route;
  label: string;
  metadata: SentJson | null;
}

/**
 * Reads the body of a create request: its shape is what the gates check first (decisions 10).
 * @throws validation_error naming the field at fault
 */
export async function readOrder(deps: Deps, body: CreateSettlementBody, sent?: () => SentJson): Promise<SettlementOrder> {
  if (body.isQuarantined !== undefined) throw invalid('route', 'replaces isQuarantined, which was removed');
  const { asset, chain } = await readAsset(deps, body.assetId);
  const { coins, raw } = readAmount(body.amount, asset.decimals);
  const route = readRoute(body.route);
  const destination = await readDestination(deps, asset, chain, body.address);
  const [label, metadata] = [readLabel(deps, body.label), readMetadata(body, sent)];
  return { asset, chain, destination, amountText: body.amount, amount: coins, rawAmount: raw, route, label, metadata };
}

function readRoute(route: string | null | undefined): Route {
  if (route === undefined || route === null) return 'GREEN';
  const known = ROUTES.find((one) => one === route);
  if (known === undefined) throw invalid('route', `must be one of ${ROUTES.join(', ')}`);
  return known;
}

function readLabel(deps: Deps, label: string | null | undefined): string {
  if (label === undefined || label === null) return `api-${Buffer.from(deps.randomBytes(8)).toString('hex')}`;
  if (typeof label !== 'string' || label === '' || label.length > LABEL_LENGTH) throw invalid('label', `must be a text of 1 to ${LABEL_LENGTH} characters`);
  if (!isStorable(label)) throw invalid('label', 'holds a character that cannot be stored');
  return label;
}

/** Metadata is a one-level object of at most 4 KB of UTF-8, with any keys (contract 4.3). */
function readMetadata({ metadata }: CreateSettlementBody, sentBody?: () => SentJson): SentJson | null {
  if (metadata === undefined || metadata === null) return null;
  if (typeof metadata !== 'object' || Array.isArray(metadata)) throw invalid('metadata', 'must be an object');
  const sent = sentBody?.().member('metadata') ?? SentJson.of(metadata);
  for (const [key, text] of sent.members()) {
    if (/^[{[]/.test(text)) throw invalid('metadata', `must be one level deep; ${key.slice(0, 40)} holds an object or a list`);
    if (!isStorable(key) || (text.startsWith('"') && !isStorable(JSON.parse(text) as string)))
      throw invalid('metadata', 'holds a character that cannot be stored');
  }
  const bytes = sizeOf(sent);
  if (bytes > POLICY.metadataBytes) throw invalid('metadata', `is ${bytes} bytes long; at most ${POLICY.metadataBytes} are allowed`);
  return sent;
}

/** Size in bytes of UTF-8, not counting escapes, because some senders write every é as six characters. */
function sizeOf(sent: SentJson): number {
  const members = sent.members().map(([key, text]) => `${JSON.stringify(key)}:${text.startsWith('"') ? JSON.stringify(JSON.parse(text)) : text}`);
  return Buffer.byteLength(`{${members.join(',')}}`, 'utf8');
}

/** Postgres can store neither NUL nor an unpaired surrogate. */
function isStorable(text: string): boolean {
  return !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);
}

import type { ClientFrame, ServerFrame, Snapshot } from '#api/checkout/page/snapshot.ts';
import { type ErrorCode, invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { isMoney } from '#shared/core/money.ts';
import { SCENARIOS } from '#state-machines/payment/scenario.ts';
import { parseStrictJson } from './strict-json.ts';

/** Commands of a page, without those of frames that are none. */
export type Command = ClientFrame['type'];

/** Fields that a command of any type may have, as they were sent. */
type Fields = Record<string, unknown>;

const READERS: { [T in Command]: (fields: Fields) => Extract<ClientFrame, { type: T }> } = {
  select: ({ offerId }) => {
    if (typeof offerId !== 'string' || !isUuid(offerId)) throw invalid('offerId', 'must be an id');
    return { type: 'select', offerId };
  },
  simulate: ({ scenario, amount, assetId }) => {
    const known = SCENARIOS.find((one) => one === scenario);
    if (known === undefined) throw invalid('scenario', `must be one of ${SCENARIOS.join(', ')}`);
    if (amount !== undefined && (typeof amount !== 'string' || !isMoney(amount))) throw invalid('amount', 'must be a decimal string such as "10.50"');
    if (assetId !== undefined && (typeof assetId !== 'string' || !isUuid(assetId))) throw invalid('assetId', 'must be an id');
    return { type: 'simulate', scenario: known, ...(amount !== undefined && { amount }), ...(assetId !== undefined && { assetId }) };
  },
};

/** What a message of a page turned out to be. */
export type Read = { frame: ClientFrame } | { command: Command | null; error: ServiceError };

/** Reads a text message by the rules of request bodies: strict JSON, unknown fields ignored. Pure; never throws. */
export function readClientFrame(bytes: Uint8Array): Read {
  let command: Command | null = null;
  try {
    const fields = parseStrictJson(bytes);
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw invalid('body', 'must be a JSON object');
    const { type } = fields as Fields;
    if (type !== 'select' && type !== 'simulate') throw invalid('type', 'must be one of select, simulate');
    command = type;
    return { frame: READERS[type](fields as Fields) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { command, error };
  }
}

const texts = { snapshot: new WeakMap<Snapshot, string>(), update: new WeakMap<Snapshot, string>() };

/** A snapshot as it is sent; written once, however many pages get it. */
export function snapshotText(type: 'snapshot' | 'update', snapshot: Snapshot): string {
  const known = texts[type].get(snapshot);
  if (known !== undefined) return known;
  const text = textOf({ type, ...snapshot });
  texts[type].set(snapshot, text);
  return text;
}

/** An error as it is sent: what an error response says. */
export function errorText(
  command: Command | null,
  { code, message, retryAfterSeconds }: { code: ErrorCode; message: string; retryAfterSeconds: number | undefined },
): string {
  return textOf({ type: 'error', command, error: { code, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) } });
}

export function pingText(serverTime: string): string {
  return textOf({ type: 'ping', serverTime });
}

function textOf(frame: ServerFrame): string {
  return JSON.stringify(frame);
}

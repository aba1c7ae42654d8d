import type { Reply } from '#api/deps.ts';
import { ServiceError } from '#shared/core/errors.ts';

/** Answers every operation of the contract that this release does not serve yet. @throws not_implemented */
export async function notImplemented(): Promise<Reply> {
  throw new ServiceError('not_implemented');
}

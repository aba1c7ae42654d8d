import type { IncomingMessage } from 'node:http';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { SCENARIOS, type Scenario } from '#state-machines/payment/scenario.ts';

/** What a payer without scripts asks for with a form of the page. */
export type FormCommand = { command: 'select'; offerId: string } | { command: 'simulate'; scenario: Scenario; amount?: string; assetId?: string };

/** A form as it was sent. */
export interface SentForm {
  /** The language that the page was in; null where it does not say. */
  language: string | null;
  /** @throws validation_error naming the field at fault; `offerId` when nothing was chosen */
  read(): FormCommand;
}

/** Reads the body of a form. Pure. @throws unsupported_media_type for anything that is no form of a page */
export function readForm(request: IncomingMessage, body: Buffer): SentForm {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new ServiceError('unsupported_media_type', { message: 'Send the form as application/x-www-form-urlencoded.' });
  const fields = new URLSearchParams(body.toString('utf8'));
  return { language: fields.get('lang'), read: () => commandOf(fields) };
}

function commandOf(fields: URLSearchParams): FormCommand {
  const named = fields.get('scenario');
  if (named === null) {
    const offerId = fields.get('offerId') ?? '';
    if (offerId === '') throw invalid('offerId', 'is required');
    return { command: 'select', offerId };
  }
  const scenario = SCENARIOS.find((one) => one === named);
  if (scenario === undefined) throw invalid('scenario', `must be one of ${SCENARIOS.join(', ')}`);
  const [amount, assetId] = [fields.get('amount'), fields.get('assetId')];
  return { command: 'simulate', scenario, ...(amount && { amount }), ...(assetId && { assetId }) };
}

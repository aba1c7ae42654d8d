import type { IncomingMessage } from 'node:http';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { readEmail } from '#api/people/email-address.ts';
import { SCENARIOS, type Scenario } from '#state-machines/payment/scenario.ts';

/** No address is longer. */
const LONGEST_TYPED = 254;

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
  const fields = fieldsOf(request, body);
  return { language: fields.get('lang'), read: () => commandOf(fields) };
}

/** The form by which a receipt is mailed, as it was sent. */
export interface SentMailForm extends Pick<SentForm, 'language'> {
  /** What was typed, to be shown again. */
  typed: string;
  /** The address. @throws validation_error */
  read(): string;
}

/** Reads it. Pure. @throws unsupported_media_type for anything that is no form of a page */
export function readMailForm(request: IncomingMessage, body: Buffer): SentMailForm {
  const fields = fieldsOf(request, body);
  const typed = fields.get('email') ?? '';
  return { language: fields.get('lang'), typed: typed.slice(0, LONGEST_TYPED), read: () => readEmail(typed) };
}

function fieldsOf(request: IncomingMessage, body: Buffer): URLSearchParams {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new ServiceError('unsupported_media_type', { message: 'Send the form as application/x-www-form-urlencoded.' });
  return new URLSearchParams(body.toString('utf8'));
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

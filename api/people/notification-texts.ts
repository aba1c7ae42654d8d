import type { PageLanguage } from '#api/page/catalogue.ts';
import { matchLanguage, REFERENCE_LANGUAGE } from '#api/page/language.ts';
import { type Translate, translator } from '#api/page/messages.ts';
import type { NoteKind } from '#api/store/notifications.ts';

/** Of each kind what is written of one, and of several. */
type Texts = Readonly<Record<NoteKind | `${NoteKind}.many` | 'things' | 'more' | 'end', string>>;

const ENGLISH: Texts = {
  approval: 'A cashout waits for approval',
  'approval.many': 'Cashouts that wait for approval: {count}',
  parked: 'A cashout is parked',
  'parked.many': 'Cashouts that are parked: {count}',
  rejected: 'A cashout was rejected',
  'rejected.many': 'Cashouts that were rejected: {count}',
  held: 'Screening holds a payment',
  'held.many': 'Payments that screening holds: {count}',
  webhook: 'A webhook was given up',
  'webhook.many': 'Payments whose webhooks were given up: {count}',
  credits: 'Screening credits run out',
  'credits.many': 'Gateways whose screening credits run out: {count}',
  export: 'The export of a month is ready, and kept for seven days',
  'export.many': 'Exports of a month that are ready, and kept for seven days: {count}',
  'export-failed': 'The export of a month could not be made: ask for fewer days',
  'export-failed.many': 'Exports of a month that could not be made, ask for fewer days: {count}',
  things: '{count} things need a look',
  more: 'and {count} more',
  end: 'You chose to be told. Change that in your profile, or what is sent each month among the reports of a gateway:',
};

const SPANISH: Texts = {
  approval: 'Un retiro espera aprobación',
  'approval.many': 'Retiros que esperan aprobación: {count}',
  parked: 'Un retiro queda en espera',
  'parked.many': 'Retiros que quedan en espera: {count}',
  rejected: 'Un retiro fue rechazado',
  'rejected.many': 'Retiros rechazados: {count}',
  held: 'El análisis retiene un pago',
  'held.many': 'Pagos que el análisis retiene: {count}',
  webhook: 'Se abandonó un webhook',
  'webhook.many': 'Pagos cuyos webhooks se abandonaron: {count}',
  credits: 'Se acaban los créditos de análisis',
  'credits.many': 'Pasarelas cuyos créditos de análisis se acaban: {count}',
  export: 'La exportación de un mes está lista, y se guarda siete días',
  'export.many': 'Exportaciones de un mes que están listas, y se guardan siete días: {count}',
  'export-failed': 'No se pudo crear la exportación de un mes: pida menos días',
  'export-failed.many': 'Exportaciones de un mes que no se pudieron crear, pida menos días: {count}',
  things: '{count} asuntos piden una mirada',
  more: 'y {count} más',
  end: 'Usted eligió recibir estos avisos. Cámbielo en su perfil, o lo que se envía cada mes en los informes de una pasarela:',
};

const LANGUAGES = new Map(
  [
    ['en', ENGLISH],
    ['es', SPANISH],
  ].map(([tag, messages]) => [tag, { tag, direction: 'ltr', messages }] as [string, PageLanguage]),
);

/** The texts of people's mail in their language, or in English; none has a word of a merchant or a payer. */
export function notificationTexts(language: string | null): Translate<keyof Texts> {
  const tag = (language !== null && matchLanguage([...LANGUAGES.keys()], language)) || REFERENCE_LANGUAGE;
  return translator(LANGUAGES.get(tag) as PageLanguage);
}

import { createHmac, hkdfSync } from 'node:crypto';
import type { Deps, Mail } from '#api/deps.ts';
import type { PageLanguage } from '#api/page/catalogue.ts';
import { loadHostedPayment } from '#api/payments/load.ts';
import { noteReceiptMail } from '#api/store/receipt-mails.ts';
import { rowId } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { peppers } from '#shared/platform/key-ring.ts';
import { receiptText } from './page/receipt-text.ts';
import { receiptView } from './page/receipt.tsx';
import type { Snapshot } from './page/snapshot.ts';

/** A receipt that somebody wants mailed. */
export interface ReceiptToMail {
  /** Of a payment that was accepted. */
  snapshot: Snapshot;
  /** As `readEmail` made it. */
  to: string;
  language: PageLanguage;
  /** Where the receipt is. */
  url: string;
}

/** Whether this deployment mails the receipt of such a payment. In the sandbox nothing was paid: whoever makes payments there could mail for nothing. */
export function mailsReceiptOf({ NODE_ENV, SLUICE_SMTP_URL }: Deps['config'], { payment }: Snapshot): boolean {
  return !payment.isSandbox && (NODE_ENV !== 'production' || SLUICE_SMTP_URL !== undefined);
}

/**
 * Mails a receipt, unless its payment or the address had three within a day (decision 0087). Answers false for the payment only: whether an address had its share is
 * told to nobody, neither in words nor by how long it takes, since sending begins after the answer. Keeps a keyed hash of the mailbox and nothing else; what goes wrong
 * with sending is for the log, without the address. Locks the two counts.
 */
export async function mailReceipt(deps: Deps, { snapshot, to, language, url }: ReceiptToMail): Promise<boolean> {
  const { gatewayId, id: paymentId } = await loadHostedPayment(deps, { paymentId: snapshot.payment.id });
  const id = rowId(deps);
  const addressHash = hashOfMailbox(peppers(deps.config).current, to);
  const { receiptMails: most, receiptMailSeconds: seconds, receiptMailsPerGateway: ofGateway } = POLICY;
  const verdict = await deps.db.transaction((tx) =>
    noteReceiptMail(tx, { id, paymentId, gatewayId, addressHash }, { seconds, ofPayment: most, toAddress: most, ofGateway }),
  );
  if (verdict === 'sent') {
    const view = receiptView({ snapshot, language, languages: [], languageAsked: false, path: `/p/${paymentId}` });
    const mail: Mail = { id: `receipt-${id}`, to, subject: view.translate('receipt.mail-subject'), text: receiptText(view, url) };
    inTurn(gatewayId, () =>
      // The message of a mail server repeats the address.
      deps.mail.send(mail).catch((error: unknown) => deps.log.error({ code: codeOf(error), mailId: mail.id }, 'a receipt was not mailed')),
    );
  }
  return verdict !== 'refused';
}

/** By gateway, when the last of its receipts that are on their way is sent. */
const turns = new Map<string, Promise<void>>();

/** Sends the receipts of one gateway one after the other: a thousand at once would be as many connections to the mail server, which then takes nobody's mail. */
function inTurn(gatewayId: string, send: () => Promise<void>): void {
  const turn = (turns.get(gatewayId) ?? Promise.resolve()).then(send).finally(() => {
    if (turns.get(gatewayId) === turn) turns.delete(gatewayId);
  });
  turns.set(gatewayId, turn);
}

/** Names of one provider under which it delivers to the same mailboxes. */
const SAME_DOMAINS: Readonly<Record<string, string>> = {
  'googlemail.com': 'gmail.com',
  'pm.me': 'proton.me',
  'protonmail.com': 'proton.me',
  'mac.com': 'icloud.com',
  'me.com': 'icloud.com',
};

/** A mailbox has one hash however its address is written: providers pass over `+anything`, some over dots, and some have several names. */
function hashOfMailbox(pepper: string, email: string): Buffer {
  const at = email.lastIndexOf('@');
  const name = email.slice(0, at).replace(/\+.*$/, '').replaceAll('.', '');
  const domain = email.slice(at + 1);
  const key = new Uint8Array(hkdfSync('sha256', pepper, 'sluice', 'mailboxes of receipts, version 1', 32));
  return createHmac('sha256', key)
    .update(`${name}@${SAME_DOMAINS[domain] ?? domain}`)
    .digest();
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

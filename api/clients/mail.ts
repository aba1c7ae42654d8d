import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Deps, Mail, Mailer } from '#api/deps.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { ApiConfig } from '#shared/platform/config.ts';

/** A server that is slower than this is down; the job asks again later. */
const TIMEOUT_MS = 10_000;

/** The mail server says that no mail reaches this address, now or later. */
export class AddressRefused extends Error {}

/** What a server answers of an address or its mailbox (RFC 3463), and not of who sends, which may be our own fault. */
const REFUSES_ADDRESS = /^5\d\d[ -]5\.[12]\.\d/;

/** Hands a composed message on. @throws AddressRefused where no mail reaches its recipient; otherwise when it was not taken */
type Deliver = (message: Message) => Promise<void>;
type Message = ReturnType<typeof compose>;

/**
 * Sends plain-text mail through the SMTP server of the configuration; without one, development writes it to files that
 * a mail program can open, and production fails until there is one. A message may be sent twice, and then both carry one Message-ID.
 */
export function openMailer(config: Pick<ApiConfig, 'NODE_ENV' | 'SLUICE_SMTP_URL' | 'SLUICE_MAIL_FROM' | 'SLUICE_MAIL_DIR'>): Mailer {
  const { SLUICE_SMTP_URL: url, SLUICE_MAIL_DIR: folder } = config;
  const deliver = url !== undefined ? throughServer(url) : config.NODE_ENV === 'production' ? refuse : intoFiles(folder);
  return { send: async (mail) => deliver(compose(config.SLUICE_MAIL_FROM, mail)) };
}

/** Puts a mail into the form nodemailer takes; nothing of it may start a header of its own. @throws Invariant when something could */
function compose(from: string, { id, to, subject, text }: Mail) {
  for (const [name, value] of Object.entries({ id, to, subject })) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
    if (/[\u0000-\u001f\u007f]/.test(value)) throw new Invariant(`the ${name} of a mail holds a control character`);
  }
  return {
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    from: { name: 'Sluice', address: from },
    // An object is one recipient whatever it holds; text would be read as a list.
    to: { name: '', address: to },
    subject,
    text,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function throughServer(url: string): Deliver {
  const transport = createTransport({ url, connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS, dnsTimeout: TIMEOUT_MS });
  return async (message) => {
    try {
      await transport.sendMail(message);
    } catch (error) {
      const { command, response } = error as { command?: string; response?: string };
      if (command === 'RCPT TO' && REFUSES_ADDRESS.test(response ?? '')) throw new AddressRefused(response, { cause: error });
      throw error;
    }
  };
}

/**
 * Sends what nobody has to hear of by all means: a mail to an address that none reaches is let go, and told. Whoever names such an address would otherwise have us try for ever, and wake
 * an operator in the end. @throws when it was not taken for another reason; whoever asked asks again later
 */
export async function sendIfReached({ mail, log }: Pick<Deps, 'mail' | 'log'>, message: Mail): Promise<void> {
  try {
    await mail.send(message);
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error;
    log.warn({ err: error, mailId: message.id }, 'no mail reaches an address: it is not tried again');
  }
}

/** One file per mail, whole or not at all, named after what it is about: a repeat replaces it. */
function intoFiles(folder: string): Deliver {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return async (message) => {
    const { message: bytes } = await transport.sendMail(message);
    const file = join(folder, `${message.messageId.slice(1, message.messageId.lastIndexOf('@'))}.eml`);
    await mkdir(folder, { recursive: true });
    await writeFile(`${file}.new`, bytes as Buffer);
    await rename(`${file}.new`, file);
  };
}

async function refuse(): Promise<void> {
  throw new Error('no mail can be sent: SLUICE_SMTP_URL is not set');
}

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { AddressRefused, openMailer } from '#api/clients/mail.ts';

const MAIL = { id: 'settlement-rejected-1', to: 'ada@shop.example', subject: 'Cashout of 10 USDT was rejected', text: 'It waited.\nNothing was paid.\n' };
const FROM = 'sluice@pay.example';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-mail-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Without a server. */
const filing = () => openMailer({ NODE_ENV: 'development', SLUICE_MAIL_FROM: FROM, SLUICE_MAIL_DIR: folder });
/** What a message says of itself, by header. */
const headersOf = (message: string): Record<string, string> =>
  Object.fromEntries(
    (message.split('\r\n\r\n')[0] ?? '')
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );

describe('without a mail server', () => {
  test('development keeps each mail as one file that a mail program can open, once however often it is sent', async () => {
    const mailer = filing();
    await mailer.send(MAIL);
    await mailer.send(MAIL);
    expect(await readdir(folder)).toEqual(['settlement-rejected-1.eml']);
    const message = await readFile(join(folder, 'settlement-rejected-1.eml'), 'utf8');
    expect(headersOf(message)).toMatchObject({
      from: 'Sluice <sluice@pay.example>',
      to: 'ada@shop.example',
      subject: MAIL.subject,
      'message-id': '<settlement-rejected-1@pay.example>',
      'auto-submitted': 'auto-generated',
      'content-type': 'text/plain; charset=utf-8',
    });
    expect(message).toContain('It waited.\r\nNothing was paid.\r\n');
  });

  test('production sends nothing, says what is missing, and never files mail away unread', async () => {
    const mailer = openMailer({ NODE_ENV: 'production', SLUICE_MAIL_FROM: FROM, SLUICE_MAIL_DIR: join(folder, 'live') });
    await expect(mailer.send(MAIL)).rejects.toThrow('SLUICE_SMTP_URL is not set');
    expect(await readdir(folder)).not.toContain('live');
  });
});

describe('whatever is in it', () => {
  test.each([
    ['subject', { subject: 'a\r\nBcc: eve@example.org' }],
    ['subject', { subject: 'a\nb' }],
    ['to', { to: 'ada@shop.example\r\nBcc: eve@example.org' }],
    ['id', { id: '../../escape\u0000' }],
  ])('a %s that could start a header is refused', async (field, over) => {
    await expect(filing().send({ ...MAIL, ...over })).rejects.toThrow(`the ${field} of a mail holds a control character`);
  });

  test('the recipient is one address, not a list', async () => {
    const { recipients, url, stop } = await aMailServer();
    try {
      const mailer = openMailer({ NODE_ENV: 'test', SLUICE_SMTP_URL: url, SLUICE_MAIL_FROM: FROM, SLUICE_MAIL_DIR: folder });
      await mailer.send({ ...MAIL, to: 'ada@shop.example, eve@example.org' }).catch(() => undefined);
      expect(recipients.filter((one) => one.includes('eve@example.org>') && !one.includes('ada'))).toEqual([]);
    } finally {
      await stop();
    }
  });
});

describe('through a mail server', () => {
  let stop: (() => Promise<void>) | undefined;
  afterEach(() => stop?.());

  test('the message arrives whole, from and to whom it says', async () => {
    const server = await aMailServer();
    stop = server.stop;
    await openMailer({ NODE_ENV: 'production', SLUICE_SMTP_URL: server.url, SLUICE_MAIL_FROM: FROM, SLUICE_MAIL_DIR: folder }).send(MAIL);
    expect(server.senders).toEqual([expect.stringContaining('<sluice@pay.example>')]);
    expect(server.recipients).toEqual([expect.stringContaining('<ada@shop.example>')]);
    expect(headersOf(server.messages[0] ?? '')).toMatchObject({ subject: MAIL.subject, 'message-id': '<settlement-rejected-1@pay.example>' });
    expect(server.messages[0]).toContain('Nothing was paid.');
  });

  test('a message it does not take is a failure, so that it is sent again later', async () => {
    const server = await aMailServer({ refuse: true });
    stop = server.stop;
    const mailer = openMailer({ NODE_ENV: 'production', SLUICE_SMTP_URL: server.url, SLUICE_MAIL_FROM: FROM, SLUICE_MAIL_DIR: folder });
    await expect(mailer.send(MAIL)).rejects.toThrow(/451/);
  });
});

describe('an address', () => {
  const sent = async (refusal: string) => {
    const server = await aMailServer({ refusal });
    const mailer = openMailer({ NODE_ENV: 'production', SLUICE_SMTP_URL: server.url, SLUICE_MAIL_FROM: FROM, SLUICE_MAIL_DIR: folder });
    try {
      return await mailer.send(MAIL).catch((error: unknown) => error instanceof AddressRefused);
    } finally {
      await server.stop();
    }
  };

  test.each(['550 5.1.1 no such user', '550-5.1.1 no such user\r\n550 5.1.1 look it up', '552 5.2.2 the mailbox is full'])(
    'that the server says no mail can reach (%s) is told apart',
    async (refusal) => {
      expect(await sent(refusal)).toBe(true);
    },
  );

  test.each(['450 4.2.1 later', '550 no', '554 5.7.1 relaying denied', '550 5.7.1 you are blocked: 550 5.1.1'])(
    'that may be reached later, or is refused for what we are (%s), is a failure like any other',
    async (refusal) => {
      expect(await sent(refusal)).toBe(false);
    },
  );
});

/** As much of an SMTP server as it takes to receive a message, or to refuse it once it is written. */
async function aMailServer({ refuse = false, refusal }: { refuse?: boolean; refusal?: string } = {}) {
  const seen = { senders: [] as string[], recipients: [] as string[], messages: [] as string[] };
  const server: Server = createServer((socket) => converse(socket, seen, refuse, refusal));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { ...seen, url: `smtp://127.0.0.1:${port}`, stop: () => new Promise<void>((resolve) => void server.close(() => resolve())) };
}

function converse(socket: Socket, seen: { senders: string[]; recipients: string[]; messages: string[] }, refuse: boolean, refusal?: string): void {
  let text = '';
  let message: string | undefined;
  const say = (line: string): void => void socket.write(`${line}\r\n`);
  const note = (list: string[], line: string): void => {
    list.push(line);
    say('250 ok');
  };
  say('220 mail.example');
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    text += bytes.toString();
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 2);
      if (message !== undefined && line !== '.') message += `${line}\r\n`;
      else if (message !== undefined) {
        seen.messages.push(message);
        message = undefined;
        say(refuse ? '451 try again later' : '250 taken');
      } else if (line.startsWith('MAIL')) note(seen.senders, line);
      else if (line.startsWith('RCPT') && refusal !== undefined) say(refusal);
      else if (line.startsWith('RCPT')) note(seen.recipients, line);
      else if (line === 'DATA') {
        message = '';
        say('354 go on');
      } else if (line === 'QUIT') socket.end('221 bye\r\n');
      else say('250 mail.example');
    }
  });
}

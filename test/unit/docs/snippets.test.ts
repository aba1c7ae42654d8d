import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DocumentedPage, documentedPage } from '#test/fixtures/documentation.ts';

/** A compiler on a machine that has others to serve takes minutes. */
const COMPILES = { timeout: 240_000 };

// The functions that webhooks.md and signing.md offer to copy, in every language whose runtime is here, on the vectors of the
// same pages.

const execute = promisify(execFile);
const webhooks = documentedPage('webhooks');
const signing = documentedPage('signing');

const BODY = '{"paymentId":"7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44","status":"SUCCESS"}';
const SECRET = 'whsec_test_secret';
const SIGNATURE = 'd20d990e7bcee64d6e572b8e117808f216cb954095d958ccfab03426d6c410ea';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-snippets-'));
  await writeFile(join(folder, 'body'), BODY);
  await writeFile(join(folder, 'other-body'), `${BODY} `);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Language {
  language: string;
  /** Its runtime, asked for its version. */
  runtime: [string, string];
  file: string;
  /** Calls the function of the page with each three arguments of the command line, and prints what it answers line by line. */
  verify: string;
  sign: string;
  command: (file: string, driver: string) => [string, ...string[]];
}

const LANGUAGES: Language[] = [
  {
    language: 'js',
    runtime: ['node', '--version'],
    file: 'page.mjs',
    verify: `import { readFileSync } from 'node:fs';
import { isGenuine } from './page.mjs';
for (let at = 2; at < process.argv.length; at += 3) console.log(isGenuine(readFileSync(process.argv[at]), ...process.argv.slice(at + 1, at + 3)));
`,
    sign: `import { sign } from './page.mjs';
for (let at = 2; at < process.argv.length; at += 3) console.log(sign(...process.argv.slice(at, at + 3)));
`,
    command: (_file, driver) => ['node', driver],
  },
  {
    language: 'python',
    runtime: ['python3', '--version'],
    file: 'page.py',
    verify: `import sys
from page import is_genuine
for at in range(1, len(sys.argv), 3): print(str(is_genuine(open(sys.argv[at], 'rb').read(), *sys.argv[at + 1:at + 3])).lower())
`,
    sign: `import sys
from page import sign
for at in range(1, len(sys.argv), 3): print(sign(*sys.argv[at:at + 3]))
`,
    command: (_file, driver) => ['python3', driver],
  },
  {
    language: 'php',
    runtime: ['php', '--version'],
    file: 'page.php',
    verify: `<?php
require 'page.php';
foreach (array_chunk(array_slice($argv, 1), 3) as [$file, $signature, $secret]) echo is_genuine(file_get_contents($file), $signature, $secret) ? "true\\n" : "false\\n";
`,
    sign: `<?php
require 'page.php';
foreach (array_chunk(array_slice($argv, 1), 3) as [$timestamp, $body, $secret]) echo sign($timestamp, $body, $secret), "\\n";
`,
    command: (_file, driver) => ['php', driver],
  },
  {
    language: 'go',
    runtime: ['go', 'version'],
    file: 'page.go',
    verify: `package main

import "os"

func main() {
	for at := 1; at < len(os.Args); at += 3 {
		body, _ := os.ReadFile(os.Args[at])
		println(IsGenuine(body, os.Args[at+1], os.Args[at+2]))
	}
}
`,
    sign: `package main

import "os"

func main() {
	for at := 1; at < len(os.Args); at += 3 {
		println(Sign(os.Args[at], []byte(os.Args[at+1]), os.Args[at+2]))
	}
}
`,
    command: (file, driver) => ['go', 'run', file, driver],
  },
  {
    language: 'sh',
    runtime: ['openssl', 'version'],
    file: 'page.sh',
    verify: `. ./page.sh
while [ $# -gt 0 ]; do if is_genuine "$1" "$2" "$3"; then echo true; else echo false; fi; shift 3; done
`,
    sign: `. ./page.sh
while [ $# -gt 0 ]; do sign "$1" "$2" "$3"; shift 3; done
`,
    command: (_file, driver) => ['bash', driver],
  },
];

describe.each(LANGUAGES)('$language', ({ language, runtime: [program, version], file, command, ...drivers }) => {
  const answers = async (word: 'verify' | 'sign', calls: string[][]): Promise<string[]> => {
    const { fences } = word === 'verify' ? webhooks : signing;
    const fence = fences.find((one) => one.language === language && one.words.includes(word));
    const driver = `drive-${word}${file.slice(file.indexOf('.'))}`;
    await Promise.all([writeFile(join(folder, file), fence?.text ?? ''), writeFile(join(folder, driver), drivers[word])]);
    const [runs, ...words] = command(file, driver);
    // What Go's println says goes to the other stream.
    const { stdout, stderr } = await execute(runs, [...words, ...calls.flat()], { cwd: folder, env: { ...process.env, GO111MODULE: 'off' } });
    return (stdout + stderr).trim().split('\n');
  };
  const isMissing = async (): Promise<boolean> =>
    execute(program, [version]).then(
      () => false,
      () => true,
    );

  it('takes a genuine webhook and refuses one with another body, secret or signature', COMPILES, async ({ skip }) => {
    skip(await isMissing(), `${program} is not installed here`);
    const wrong = ['', 'nonsense', SIGNATURE.slice(2), `${SIGNATURE}00`, 'é'].map((signature) => ['body', signature, SECRET]);
    const calls = [['body', SIGNATURE, SECRET], ['other-body', SIGNATURE, SECRET], ['body', SIGNATURE, `${SECRET}s`], ...wrong];
    expect(await answers('verify', calls)).toEqual(['true', ...calls.slice(1).map(() => 'false')]);
  });

  it('signs a request as the page says', COMPILES, async ({ skip }) => {
    skip(await isMissing(), `${program} is not installed here`);
    const { timestamp, body, secret, signature, withoutBody } = example();
    const umlaut = '{"label":"Straße"}';
    const calls = [body, '', umlaut].map((one) => [timestamp, one, secret]);
    expect(await answers('sign', calls)).toEqual([signature, withoutBody, hmac(secret, `${timestamp}.${umlaut}`)]);
  });
});

it('the worked example of signing.md is right to the byte', () => {
  const { timestamp, body, secret, signature, withoutBody, dump } = example();
  const text = Buffer.from(`${timestamp}.${body}`);
  const lines = Array.from({ length: Math.ceil(text.length / 16) }, (_none, at) => {
    const row = text.subarray(at * 16, at * 16 + 16);
    const bytes = [...row].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    return `${(at * 16).toString(16).padStart(4, '0')}  ${bytes.padEnd(47)}  ${row.toString()}`;
  });
  expect(dump.split('\n')).toEqual(lines);
  expect(signing.markdown).toContain(`the body is ${Buffer.byteLength(body)}. So ${text.length} bytes are signed`);
  expect(signing.markdown).toContain(`the ${secret.length} bytes of the secret`);
  expect([signature, withoutBody]).toEqual([hmac(secret, `${timestamp}.${body}`), hmac(secret, `${timestamp}.`)]);
});

it('the vector of webhooks.md is the one of the decisions', () => {
  for (const value of [SECRET, BODY, SIGNATURE]) expect(webhooks.markdown).toContain(`\`${value}\``);
});

it('the receiver of webhooks.md takes what is genuine, once, and refuses the rest', async () => {
  await writeFile(join(folder, 'receiver.mjs'), textOf(webhooks, 'receiver'));
  // Port 0 is told by the server itself, so the receiver runs below a driver that asks it.
  await writeFile(
    join(folder, 'drive-receiver.mjs'),
    `import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
const create = http.createServer;
http.createServer = (handler) => { globalThis.server = create(handler); return globalThis.server; };
syncBuiltinESMExports();
await import('./receiver.mjs');
if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
for (const [body, signature] of JSON.parse(process.argv[2])) {
  const { status } = await fetch('http://127.0.0.1:' + server.address().port, { method: 'POST', body, headers: { 'X-Webhook-Signature': signature } });
  console.log(status);
}
process.exit(0);
`,
  );
  const requests = [
    [BODY, SIGNATURE],
    [BODY, SIGNATURE],
    [`${BODY} `, SIGNATURE],
    [BODY, 'nonsense'],
  ];
  const { stdout } = await execute('node', ['drive-receiver.mjs', JSON.stringify(requests)], {
    cwd: folder,
    env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: '0' },
  });
  expect(stdout.trim().split('\n')).toEqual(['call verify for 7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44', '200', '200', '401', '401']);
});

describe('the snippets that stand on a library', () => {
  const key = randomBytes(32);
  const secret = `whsec_${key.toString('base64')}`;
  const [id, timestamp] = ['evt_1', String(Math.floor(Date.now() / 1000))];
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${BODY}`).digest('base64')}`;
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };

  it('webhooks.md: standardwebhooks takes what is genuine and throws on the rest', async () => {
    const { readWebhook } = (await bundled(textOf(webhooks, 'standard'))) as { readWebhook(body: string, headers: object, secret: string): unknown };
    expect(readWebhook(BODY, headers, secret)).toEqual(JSON.parse(BODY));
    expect(() => readWebhook(`${BODY} `, headers, secret)).toThrow();
  });

  it('client.md: the client answers 200 to what is genuine, 400 to the rest, and handles it once', async () => {
    const { receive } = (await bundled(textOf(documentedPage('client'), 'client-webhook'))) as {
      receive(body: string, headers: object, secret: string, handle: (id: string, status: string) => void): Promise<number>;
    };
    const handled: string[] = [];
    const handle = (paymentId: string, status: string): void => void handled.push(`${paymentId} ${status}`);
    expect(await receive(BODY, headers, secret, handle)).toBe(200);
    expect(await receive(`${BODY} `, headers, secret, handle)).toBe(400);
    expect(handled).toEqual(['7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44 SUCCESS']);
  });
});

/** A snippet as a module, with what it imports. */
async function bundled(snippet: string): Promise<unknown> {
  const file = join(folder, `bundled-${randomBytes(4).toString('hex')}.mjs`);
  const stdin = { contents: snippet, resolveDir: process.cwd(), loader: 'js' as const };
  await build({ stdin, alias: { 'sluice-client': './ops/client/index.ts' }, outfile: file, bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' });
  return import(/* @vite-ignore */ file);
}

/** The worked example as signing.md tells it. */
function example() {
  const cell = (name: string): string => new RegExp(`^\\| ${name} \\| \`(.*)\` \\|$`, 'm').exec(signing.markdown)?.[1] ?? '';
  const text = (word: string): string => textOf(signing, word);
  return {
    timestamp: cell('timestamp'),
    body: cell('body'),
    secret: cell('secret'),
    dump: text('bytes'),
    signature: text('signature'),
    withoutBody: text('signature-without-body'),
  };
}

function textOf({ fences }: DocumentedPage, word: string): string {
  return fences.find((fence) => fence.words.includes(word))?.text ?? '';
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

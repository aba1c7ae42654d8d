import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { escapeHtml } from '#api/docs/escape.ts';
import type { Contract } from '#api/docs/reference/contract.ts';
import { drawOperation, openReference } from '#api/docs/reference/draw-reference.ts';
import { callOf, samplesOf } from '#api/docs/reference/samples.ts';
import { examplesOf } from '#api/docs/reference/schemas.ts';
import { readCheckoutContract } from '#api/http/read-contract.ts';
import { ERRORS } from '#shared/core/errors.ts';

/** A compiler on a machine that has others to serve takes minutes. */
const COMPILES = { timeout: 240_000 };

// The reference is drawn from the contract: nothing of an operation is left out, and its samples make the request they show.

const execute = promisify(execFile);
const contractOf = (name: string): Contract => parse(readFileSync(`api/contract/${name}.yaml`, 'utf8')) as Contract;
const merchant = openReference({
  address: '/docs/api',
  title: 'API reference',
  root: '/api/v1',
  contract: contractOf('openapi'),
  limited: true,
  tryProgram: '/docs/assets/try.js',
});
const checkout = openReference({
  address: '/docs/checkout-api',
  title: 'Checkout channel',
  root: 'https://pay.example',
  contract: readCheckoutContract('api/contract') as unknown as Contract,
  limited: false,
  tryProgram: null,
});
const operator = openReference({
  address: '/docs/operator-api',
  title: 'Operator API',
  root: '/operator/v1',
  contract: contractOf('operator'),
  limited: false,
  tryProgram: null,
});

describe.each([merchant, operator, checkout].map((reference) => [reference.title, reference] as const))('the pages of the %s', (_title, reference) => {
  it('tell the parameters, statuses and permissions of each operation, each with an anchor of its own', () => {
    const problems = reference.operations.flatMap((operation) => {
      const html = drawOperation(reference, operation, escapeHtml);
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
      const wanted = [
        ...operation.parameters.map(({ name }) => `id="${name}"`),
        ...operation.answers.filter(({ status }) => /^\d/.test(status)).map(({ status }) => `>${status}<`),
      ];
      return [
        ...wanted.filter((part) => !html.includes(part)),
        ...operation.permissions.filter((permission) => !html.includes(`<code>${permission}</code>`)),
        ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `twice: ${id}`),
        ...[...html.matchAll(/\/docs\/errors#([a-z_]+)"/g)].flatMap(([, code = '']) => (code in ERRORS ? [] : [`no such code: ${code}`])),
        ...[...html.matchAll(/<nav class="on-page"[\s\S]*?<\/nav>/g)].flatMap(([nav]) =>
          [...nav.matchAll(/href="#([^"]+)"/g)].flatMap(([, id = '']) => (ids.includes(id) ? [] : [`leads nowhere: ${id}`])),
        ),
        ...(/undefined|\[object Object\]|NaN/.test(html) ? ['something that is nothing'] : []),
      ].map((problem) => `${operation.id}: ${problem}`);
    });
    expect(problems).toEqual([]);
  });
});

describe.each([merchant, operator, checkout].map((reference) => [reference.title, reference] as const))(
  'the examples of the %s',
  (_title, { contract, operations }) => {
    it('are what the contract allows, also where it gives none and they are made up', () => {
      const ajv = new Ajv2020({ strict: false, allErrors: true });
      addFormats.default(ajv);
      ajv.addSchema({ $id: 'contract', ...contract });
      const problems = operations.flatMap(({ id, body, answers }) =>
        [{ status: 'body', media: body?.media }, ...answers].flatMap(({ status, media }) => {
          if (media?.schema === undefined || !/^(body|2)/.test(status)) return [];
          const schema = JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"contract#/')) as object;
          const isValid = ajv.compile(schema);
          return examplesOf(contract, media).flatMap(({ value }) => (isValid(value) ? [] : [`${id} ${status}: ${ajv.errorsText(isValid.errors)}`]));
        }),
      );
      expect(problems).toEqual([]);
    });
  },
);

describe('the samples', () => {
  let server: Server;
  let folder: string;
  let origin: string;
  let received: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-samples-'));
    server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString() });
      response.setHeader('Content-Type', 'application/json');
      response.end('{"success":true}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const RUN = {
    sh: { file: 'sample.sh', command: ['bash'], probe: ['bash', '-c', 'curl --version && openssl version'] },
    js: { file: 'sample.mjs', command: ['node'], probe: ['node', '--version'] },
    python: { file: 'sample.py', command: ['python3'], probe: ['python3', '--version'] },
    php: { file: 'sample.php', command: ['php'], probe: ['php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);'] },
    go: { file: 'sample.go', command: ['go', 'run'], probe: ['go', 'version'] },
  } as const;
  const OPERATIONS = [
    [merchant, 'createSettlement'],
    [merchant, 'listBalances'],
    [merchant, 'createPayment'],
    [merchant, 'getPublicPayment'],
    [operator, 'changeGateway'],
  ] as const;

  it.for(Object.keys(RUN) as (keyof typeof RUN)[])('in %s send what they show, signed where that is needed', COMPILES, async (language, { skip }) => {
    const { file, command, probe } = RUN[language];
    const [program, ...words] = probe;
    const missing = await execute(program, words).then(
      () => false,
      () => true,
    );
    skip(missing, `${program} is not installed here`);
    for (const [reference, id] of OPERATIONS) {
      const operation = reference.operations.find((one) => one.id === id);
      if (operation === undefined) throw new Error(`${id} is no operation`);
      const sample = samplesOf(reference.contract, reference.root, operation).find((one) => one.language === language);
      await writeFile(join(folder, file), (sample?.code ?? '').replaceAll('http://127.0.0.1:3000', origin));
      received = [];
      const env = { ...process.env, API_KEY: 'sk_live_1', CASHOUT_SECRET: 'ss_1', OPERATOR_TOKEN: 'op_1', GO111MODULE: 'off' };
      await execute(command[0], [...command.slice(1), join(folder, file)], { cwd: folder, env });
      const [request] = received;
      const call = callOf(reference.contract, reference.root, operation);
      expect([id, received.length, request?.method, request?.path]).toEqual([id, 1, operation.method, call.url.replace('http://127.0.0.1:3000', '')]);
      expect(call.body === '' ? request?.body : JSON.parse(request?.body ?? '')).toEqual(call.body === '' ? '' : JSON.parse(call.body));
      if (operation.scheme === 'operatorToken') expect(request?.headers.authorization).toBe('Bearer op_1');
      expect([id, request?.headers['x-api-key']]).toEqual([id, ['apiKey', 'signedRequest'].includes(operation.scheme) ? 'sk_live_1' : undefined]);
      const timestamp = String(request?.headers['x-timestamp']);
      const signature = createHmac('sha256', 'ss_1').update(`${timestamp}.${request?.body}`).digest('hex');
      expect([id, request?.headers['x-signature']]).toEqual([id, operation.scheme === 'signedRequest' ? signature : undefined]);
    }
  });
});

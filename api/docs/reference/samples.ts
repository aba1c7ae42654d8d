import type { Contract, Operation, Parameter } from './contract.ts';
import { exampleOf, examplesOf } from './schemas.ts';

/** One operation asked in one language. */
export interface Sample {
  /** As the blocks of the pages name it. */
  language: 'sh' | 'js' | 'python' | 'php' | 'go';
  code: string;
}

/** A request, before any language writes it. */
export interface Call {
  method: string;
  url: string;
  headers: readonly [name: string, value: string][];
  /** As it is sent, and signed; empty without a body. */
  body: string;
  signed: boolean;
}

/** Where the samples say the api is; the script of the pages puts in where it really is. */
const ORIGIN = 'http://127.0.0.1:3000';

/** A variable of the environment, wherever a language reads one. */
const KEY = '$API_KEY';
const TOKEN = '$OPERATOR_TOKEN';

/** The same call in every language. Pure. */
export function samplesOf(contract: Contract, root: string, operation: Operation): Sample[] {
  const call = callOf(contract, root, operation);
  return [
    { language: 'sh', code: curl(call) },
    { language: 'js', code: node(call) },
    { language: 'python', code: python(call) },
    { language: 'php', code: php(call) },
    { language: 'go', code: go(call) },
  ];
}

/** The request that the examples of the contract make, below a path of the api or a whole address. Pure. */
export function callOf(contract: Contract, root: string, { method, path, parameters, body, scheme }: Operation): Call {
  const value = (parameter: Parameter): string => String(parameter.example ?? exampleOf(contract, parameter.schema ?? {}));
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_all, name: string) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    return encodeURIComponent(parameter === undefined ? name : value(parameter));
  });
  const query = parameters.filter((one) => one.in === 'query' && one.required === true).map((one) => `${one.name}=${encodeURIComponent(value(one))}`);
  const example = examplesOf(contract, body?.media)[0]?.value;
  const proof: [string, string][] = scheme === 'none' ? [] : [scheme === 'operatorToken' ? ['Authorization', `Bearer ${TOKEN}`] : ['X-Api-Key', KEY]];
  const repeats = parameters.some((one) => one.name === 'Idempotency-Key' && one.required === true);
  return {
    method,
    url: `${root.startsWith('/') ? ORIGIN : ''}${root}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: [
      ...proof,
      ...(repeats ? ([['Idempotency-Key', 'cashout-1001']] as [string, string][]) : []),
      ...(example === undefined ? [] : ([['Content-Type', 'application/json']] as [string, string][])),
    ],
    body: example === undefined ? '' : JSON.stringify(example, null, 2),
    signed: scheme === 'signedRequest',
  };
}

function curl({ method, url, headers, body, signed }: Call): string {
  const quoted = `'${body.replaceAll("'", `'\\''`)}'`;
  const written = headers.map(([name, value]) => (value.includes('$') ? `-H "${name}: ${value}"` : `-H '${name}: ${value}'`));
  if (!signed) return [`curl -X ${method} '${url}'`, ...written, ...(body === '' ? [] : [`-d ${quoted}`])].join(' \\\n  ');
  return `body=${body === '' ? "''" : quoted}
timestamp=$(date +%s)
signature=$(printf '%s.%s' "$timestamp" "$body" | openssl dgst -sha256 -hmac "$CASHOUT_SECRET" | sed 's/^.* //')

${[`curl -X ${method} '${url}'`, ...written, `-H "X-Timestamp: $timestamp"`, `-H "X-Signature: $signature"`, ...(body === '' ? [] : [`-d "$body"`])].join(' \\\n  ')}`;
}

/** A value with a variable of the environment in it, joined as the language joins texts. */
function joined(value: string, quote: (text: string) => string, read: (name: string) => string, plus: string): string {
  const [, before = '', name] = /^(.*)\$([A-Z_]+)$/.exec(value) ?? [];
  if (name === undefined) return quote(value);
  return before === '' ? read(name) : `${quote(before)}${plus}${read(name)}`;
}

const single = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const double = (text: string): string => JSON.stringify(text);

/** Of a template of the sample, not of ours. */
const SIGNED_BODY = ['$', '{body}'].join('');

function node({ method, url, headers, body, signed }: Call): string {
  const lines = headers.map(([name, value]) => `    ${single(name)}: ${joined(value, single, (variable) => `process.env.${variable}`, ' + ')},`);
  const signing = signed ? ["    'X-Timestamp': timestamp,", "    'X-Signature': signature,"] : [];
  return [
    ...(signed ? ["import { createHmac } from 'node:crypto';", ''] : []),
    ...(body === '' ? [] : [`const body = JSON.stringify(${body});`]),
    ...(signed
      ? [
          'const timestamp = String(Math.floor(Date.now() / 1000));',
          `const signature = createHmac('sha256', process.env.CASHOUT_SECRET).update(\`\${timestamp}.${body === '' ? '' : SIGNED_BODY}\`).digest('hex');`,
        ]
      : []),
    `const response = await fetch(${single(url)}, {`,
    `  method: ${single(method)},`,
    ...(lines.length + signing.length === 0 ? [] : ['  headers: {', ...lines, ...signing, '  },']),
    ...(body === '' ? [] : ['  body,']),
    '});',
    'console.log(response.status, await response.json());',
  ].join('\n');
}

function python({ method, url, headers, body, signed }: Call): string {
  const lines = headers.map(([name, value]) => `    ${double(name)}: ${joined(value, double, (variable) => `os.environ["${variable}"]`, ' + ')},`);
  const signing = signed ? ['    "X-Timestamp": timestamp,', '    "X-Signature": signature,'] : [];
  const imports = [
    ...(signed ? ['import hashlib', 'import hmac'] : []),
    ...(headers.some(([, value]) => value.includes('$')) ? ['import os'] : []),
    ...(signed ? ['import time'] : []),
  ];
  return [
    ...imports,
    'import urllib.request',
    '',
    ...(body === '' ? [] : [`body = """${body.replaceAll('\\', '\\\\')}""".encode()`]),
    ...(signed
      ? [
          'timestamp = str(int(time.time()))',
          `signed = timestamp.encode() + b"."${body === '' ? '' : ' + body'}`,
          'signature = hmac.new(os.environ["CASHOUT_SECRET"].encode(), signed, hashlib.sha256).hexdigest()',
        ]
      : []),
    ...(lines.length + signing.length === 0 ? [] : ['headers = {', ...lines, ...signing, '}']),
    `request = urllib.request.Request(${double(url)}, method=${double(method)}${lines.length + signing.length === 0 ? '' : ', headers=headers'}${body === '' ? '' : ', data=body'})`,
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n');
}

function php({ method, url, headers, body, signed }: Call): string {
  const lines = headers.map(([name, value]) => `    ${joined(`${name}: ${value}`, single, (variable) => `getenv('${variable}')`, ' . ')},`);
  const signing = signed ? ["    'X-Timestamp: ' . $timestamp,", "    'X-Signature: ' . $signature,"] : [];
  return [
    '<?php',
    ...(body === '' ? [] : ["$body = <<<'JSON'", body, 'JSON;']),
    ...(signed
      ? ['$timestamp = (string) time();', `$signature = hash_hmac('sha256', $timestamp . '.'${body === '' ? '' : ' . $body'}, getenv('CASHOUT_SECRET'));`]
      : []),
    `$request = curl_init(${single(url)});`,
    `curl_setopt($request, CURLOPT_CUSTOMREQUEST, ${single(method)});`,
    'curl_setopt($request, CURLOPT_RETURNTRANSFER, true);',
    ...(lines.length + signing.length === 0 ? [] : ['curl_setopt($request, CURLOPT_HTTPHEADER, [', ...lines, ...signing, ']);']),
    ...(body === '' ? [] : ['curl_setopt($request, CURLOPT_POSTFIELDS, $body);']),
    'echo curl_exec($request);',
  ].join('\n');
}

function go({ method, url, headers, body, signed }: Call): string {
  const lines = headers.map(
    ([name, value]) => `\trequest.Header.Set(${double(name)}, ${joined(value, double, (variable) => `os.Getenv("${variable}")`, ' + ')})`,
  );
  const imports = [
    ...(signed ? ['crypto/hmac', 'crypto/sha256', 'encoding/hex'] : []),
    'fmt',
    'io',
    'net/http',
    ...(signed || headers.some(([, value]) => value.includes('$')) ? ['os'] : []),
    ...(body === '' ? [] : ['strings']),
    ...(signed ? ['strconv', 'time'] : []),
  ].sort();
  return [
    'package main',
    '',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...(body === '' ? [] : [`\tbody := \`${body}\``]),
    ...(signed
      ? [
          '\ttimestamp := strconv.FormatInt(time.Now().Unix(), 10)',
          '\tmac := hmac.New(sha256.New, []byte(os.Getenv("CASHOUT_SECRET")))',
          `\tmac.Write([]byte(timestamp + "."${body === '' ? '' : ' + body'}))`,
        ]
      : []),
    `\trequest, err := http.NewRequest(${double(method)}, ${double(url)}, ${body === '' ? 'nil' : 'strings.NewReader(body)'})`,
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    ...lines,
    ...(signed ? ['\trequest.Header.Set("X-Timestamp", timestamp)', '\trequest.Header.Set("X-Signature", hex.EncodeToString(mac.Sum(nil)))'] : []),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\tanswer, err := io.ReadAll(response.Body)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tfmt.Println(response.Status, string(answer))',
    '}',
  ].join('\n');
}

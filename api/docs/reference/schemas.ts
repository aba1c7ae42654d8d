import { type Contract, type Media, resolved, type Schema } from './contract.ts';

/** One field as a reader sees it. */
export interface Field {
  name: string;
  type: string;
  required: boolean;
  deprecated: boolean;
  description: string;
  /** What its values are held to, each a few words. */
  facts: readonly string[];
  values: readonly string[];
  fields: readonly Field[];
}

/** Deeper than any contract of ours goes. */
const DEEPEST = 8;

/** The fields of an object, of an object in a list, or of either of several. Pure. */
export function fieldsOf(contract: Contract, schema: Schema | undefined, depth = 0): Field[] {
  if (schema === undefined || depth > DEEPEST) return [];
  const whole = merged(contract, schema);
  if (whole.items !== undefined) return fieldsOf(contract, whole.items, depth);
  const choices = whole.oneOf ?? whole.anyOf;
  if (whole.properties === undefined && choices !== undefined) return unique(choices.flatMap((one) => fieldsOf(contract, one, depth)));
  return Object.entries(whole.properties ?? {}).map(([name, property]) => {
    const own = merged(contract, property);
    return {
      name,
      type: typeOf(contract, own),
      required: whole.required?.includes(name) ?? false,
      deprecated: own.deprecated ?? false,
      description: own.description ?? '',
      facts: factsOf(own),
      values: valuesOf(contract, own),
      fields: fieldsOf(contract, own, depth + 1),
    };
  });
}

/** A schema with what it stands on put into it. What is nearer wins. Pure. */
export function merged(contract: Contract, schema: Schema): Schema {
  const { $ref, ...near } = schema;
  const own: Schema = $ref === undefined ? near : { ...resolved(contract, { $ref } as Schema), ...near };
  if ($ref !== undefined) return merged(contract, own);
  if (own.allOf === undefined) return own;
  const { allOf, ...rest } = own;
  const parts = [...allOf.map((one) => merged(contract, one)), rest];
  const required = parts.flatMap((one) => one.required ?? []);
  const properties: Record<string, Schema> = Object.assign({}, ...parts.map((one) => one.properties ?? {}));
  return Object.assign({}, ...parts, required.length > 0 && { required }, Object.keys(properties).length > 0 && { properties }) as Schema;
}

function unique(fields: readonly Field[]): Field[] {
  return [...new Map(fields.toReversed().map((field) => [field.name, field])).values()].toReversed();
}

/** `string`, `list of objects`, `string or null`. Pure. */
export function typeOf(contract: Contract, schema: Schema): string {
  const own = merged(contract, schema);
  const choices = own.oneOf ?? own.anyOf;
  if (own.type === undefined && choices !== undefined) return [...new Set(choices.flatMap((one) => typeOf(contract, one).split(' or ')))].join(' or ');
  const types = [own.type ?? (own.properties === undefined ? typeof (own.const ?? own.enum?.[0] ?? '') : 'object')].flat();
  const shown = types.map((type) => {
    if (type !== 'array') return type;
    return own.items === undefined ? 'list' : `list of ${plural(typeOf(contract, own.items))}`;
  });
  return shown.join(' or ');
}

function plural(type: string): string {
  return /^(string|object|integer|number|boolean)$/.test(type) ? `${type}s` : type;
}

/** Formats as a reader calls them. */
const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'RFC 3339 time', uuid: 'UUID', uri: 'URL', email: 'mail address', date: 'date' };

function factsOf({ format, minLength, maxLength, minimum, maximum, minItems, maxItems, default: usual }: Schema): string[] {
  const range = (low: number | undefined, high: number | undefined, unit: string): string[] => {
    if (low === undefined && high === undefined) return [];
    if (high === undefined) return [`at least ${low}${unit}`];
    return [low === undefined || low === 0 ? `at most ${high}${unit}` : low === high ? `exactly ${high}${unit}` : `${low} to ${high}${unit}`];
  };
  return [
    ...(format === undefined ? [] : [FORMATS[format] ?? format]),
    ...range(minLength, maxLength, ' characters'),
    ...range(minimum, maximum, ''),
    ...range(minItems, maxItems, ' items'),
    ...(usual === undefined ? [] : [`default ${JSON.stringify(usual)}`]),
  ];
}

function valuesOf(contract: Contract, schema: Schema): string[] {
  const own = merged(contract, schema.items ?? schema);
  const choices = (own.oneOf ?? own.anyOf ?? []).flatMap((one) => valuesOf(contract, one));
  const values = own.enum ?? (own.const === undefined ? [] : [own.const]);
  return [...values.filter((value) => value !== null).map(String), ...choices];
}

/** Every example of a body, or one that is made up from its schema. Pure. */
export function examplesOf(contract: Contract, media: Media | undefined): { title: string; value: unknown }[] {
  if (media === undefined) return [];
  const named = Object.entries(media.examples ?? {}).map(([name, one]) => {
    const { summary, value } = resolved(contract, one);
    return { title: summary ?? name, value };
  });
  if (named.length > 0) return named;
  return [{ title: '', value: media.example ?? exampleOf(contract, media.schema ?? {}) }];
}

const OF_FORMAT: Readonly<Record<string, string>> = {
  uuid: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44',
  'date-time': '2026-11-21T10:00:00Z',
  date: '2026-11-21',
  uri: 'https://shop.example/hooks/sluice',
  email: 'anna@shop.example',
};

/** A value that fits, as far as a schema says what does. Pure. */
export function exampleOf(contract: Contract, schema: Schema, depth = 0): unknown {
  const own = merged(contract, schema);
  const given = own.example ?? own.examples?.[0] ?? own.default ?? own.const ?? own.enum?.[0];
  if (given !== undefined) return given;
  const choice = (own.oneOf ?? own.anyOf)?.[0];
  if (own.properties === undefined && choice !== undefined) return exampleOf(contract, choice, depth);
  const type = [own.type ?? 'object'].flat()[0];
  if (type === 'array') return depth > DEEPEST || own.items === undefined ? [] : [exampleOf(contract, own.items, depth + 1)];
  if (type === 'object') {
    if (depth > DEEPEST) return {};
    return Object.fromEntries(Object.entries(own.properties ?? {}).map(([name, one]) => [name, exampleOf(contract, one, depth + 1)]));
  }
  if (type === 'integer' || type === 'number') return own.minimum ?? 1;
  if (type === 'boolean') return true;
  return type === 'null' ? null : (OF_FORMAT[own.format ?? ''] ?? textOf(own));
}

/** What texts of contracts look like, the most telling first; the first one that a pattern and lengths allow is shown. */
const TEXTS = [
  'text',
  '49.90',
  '25',
  'USD',
  'eur',
  'usdt',
  '2026-11',
  '2026-11-21',
  '203.0.113.9',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  `0x${'7a'.repeat(32)}`,
  '7a'.repeat(32),
  '7a'.repeat(8),
  'a'.repeat(43),
  '123456',
  '+0.5',
];

function textOf({ pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema): string {
  const allowed = pattern === undefined ? /^/ : new RegExp(pattern, 'u');
  return TEXTS.find((text) => allowed.test(text) && text.length >= minLength && text.length <= maxLength) ?? 'text';
}

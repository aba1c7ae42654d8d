import type { ErrorObject } from 'ajv';
import { invalid, type ServiceError } from '#shared/core/errors.ts';

/** Names of JSON types as a person would say them. */
const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'an array',
  null: 'null',
};

const FORMATS: Record<string, string> = {
  uuid: 'must be a UUID',
  uri: 'must be an absolute http or https URL',
  'date-time': 'must be an RFC 3339 date and time',
};

/**
 * Turns a schema violation into a 422 that names the field and says what it must be. A schema may word its own rule
 * with `x-problem`, and name another field with `x-field`.
 */
export function validationProblem(error: ErrorObject): ServiceError {
  const rule = (error.parentSchema ?? {}) as { 'x-problem'?: string; 'x-field'?: string; pattern?: string; format?: string };
  const steps = error.instancePath
    .split('/')
    .slice(2)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (error.keyword === 'required') return invalid(fieldName([...steps, String(error.params.missingProperty)]), 'is required');
  return invalid(rule['x-field'] ?? fieldName(steps), rule['x-problem'] ?? problem(error));
}

/** True when the violation is in a path parameter, which makes the id unknown rather than the request invalid (decisions 8). */
export function isInPath(error: ErrorObject): boolean {
  return error.instancePath.startsWith('/path');
}

function fieldName(steps: string[]): string {
  const name = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('');
  return name.replace(/^\./, '').slice(0, 200) || 'body';
}

function problem(error: ErrorObject): string {
  const { params } = error;
  switch (error.keyword) {
    case 'type':
      return `must be ${[params.type]
        .flat()
        .map((type) => TYPES[String(type)] ?? type)
        .join(' or ')}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).filter((value) => value !== null).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'format':
      return FORMATS[String(params.format)] ?? `must be a valid ${params.format}`;
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      return `must be at most ${params.limit}`;
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} ${error.keyword === 'minLength' ? 'characters' : 'entries'}`;
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${params.limit} entries`;
    default:
      return error.message ?? 'is not valid';
  }
}

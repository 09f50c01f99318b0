/**
 * The formats that are enforced; every other one is an annotation and reported as such. The expressions of
 * ajv-formats backtrack, so each runs only on texts short enough for that not to matter (V4).
 */
import type { FormatDefinition } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { LimitExceeded } from './limitExceeded.js';

const STRING_FORMATS = [
  'date',
  'time',
  'date-time',
  'duration',
  'uri',
  'uri-reference',
  'uri-template',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'json-pointer',
  'relative-json-pointer',
] as const;
const NUMBER_FORMATS = ['int32', 'int64', 'float', 'double'] as const;
/** Known, and nothing to check in a JSON string. */
const FREE_FORMATS = ['password', 'binary', 'byte', 'regex'] as const;

const MAX_LENGTH = 2_048;

const checkOf = (name: string): ((text: string) => boolean) => {
  const format: unknown = fullFormats[name as keyof typeof fullFormats];
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return (text) => format(text) === true;
  const definition = format as { validate: RegExp | ((text: string) => boolean) };
  const { validate } = definition;
  return validate instanceof RegExp ? (text) => validate.test(text) : validate;
};

const bounded = (name: string): FormatDefinition<string> => {
  const check = checkOf(name);
  return {
    type: 'string',
    validate: (text: string): boolean => {
      if (text.length > MAX_LENGTH) {
        throw new LimitExceeded(`a text of format ${name} has more than ${MAX_LENGTH} characters`);
      }
      return check(text);
    },
  };
};

const NUMBER_CHECKS: Readonly<Record<(typeof NUMBER_FORMATS)[number], (value: number) => boolean>> = {
  int32: (value) => Number.isInteger(value) && value >= -(2 ** 31) && value <= 2 ** 31 - 1,
  int64: (value) => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63,
  float: () => true,
  double: () => true,
};

export const FORMATS: Readonly<Record<string, FormatDefinition<string> | FormatDefinition<number>>> =
  Object.fromEntries<FormatDefinition<string> | FormatDefinition<number>>([
    ...STRING_FORMATS.map((name) => [name, bounded(name)] as const),
    ...NUMBER_FORMATS.map(
      (name) => [name, { type: 'number' as const, validate: NUMBER_CHECKS[name] }] as const,
    ),
  ]);

export const isKnownFormat = (name: string): boolean =>
  Object.hasOwn(FORMATS, name) || FREE_FORMATS.some((free) => free === name);

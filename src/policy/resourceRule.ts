/**
 * Computes the resource of a lease from validated arguments (L1). The result is compared and revoked by its text,
 * so two different arguments must never give one resource.
 */
import { CatalogError } from '../domain/errors.js';
import type { JsonValue } from '../domain/json.js';
import { parsePointer, resolvePointer } from '../proof/jsonPointer.js';

export interface ResourceRule {
  readonly template: string;
  /** @throws CatalogError PARAMS_INVALID/RESOURCE_UNRESOLVED with the pointer */
  resolve(args: unknown): string;
}

/** Any resource at all: only a READ tool may have it. */
export const ANY_RESOURCE = '*';

const MAX_TEMPLATE_LENGTH = 512;
const MAX_RESOURCE_LENGTH = 1_024;
const LITERAL = /^[A-Za-z0-9._~:/-]*$/;

type Part = { readonly literal: string } | { readonly pointer: string };

/**
 * Reads a template such as `inventory/{/warehouse}/{/sku}`: literal text, and in braces JSON Pointers (RFC 6901) into
 * the arguments.
 * @throws TypeError that says what is wrong with it
 */
export const compileResourceRule = (template: string): ResourceRule => {
  if (template === ANY_RESOURCE) return { template, resolve: () => ANY_RESOURCE };
  if (template.length > MAX_TEMPLATE_LENGTH)
    throw new TypeError(`longer than ${MAX_TEMPLATE_LENGTH} characters`);
  const parts = splitTemplate(template);
  return {
    template,
    resolve: (args) => {
      const resource = parts
        .map((part) => ('literal' in part ? part.literal : encodeArgument(args, part.pointer)))
        .join('');
      if (resource.length > MAX_RESOURCE_LENGTH) throw unresolved('', 'the resource would be too long');
      return resource;
    },
  };
};

const splitTemplate = (template: string): Part[] => {
  const parts: Part[] = [];
  // An odd index is what stood in braces.
  for (const [index, text] of template.split(/\{([^{}]*)\}/).entries()) {
    if (index % 2 === 1) {
      if (parsePointer(text).length === 0) throw new TypeError('a pointer names a member: {/sku}');
      // Two values side by side would run together: "ab"+"c" and "a"+"bc" are one text.
      const before = parts.at(-1);
      if (before !== undefined && 'pointer' in before)
        throw new TypeError('a / must stand between two pointers');
      if (before !== undefined && !before.literal.endsWith('/'))
        throw new TypeError('a pointer fills a whole segment: a / stands before it');
      parts.push({ pointer: text });
    } else if (text !== '') {
      if (!LITERAL.test(text)) throw new TypeError('literal text is of A–Z, a–z, 0–9 and ._~:/-');
      if (index > 0 && !text.startsWith('/'))
        throw new TypeError('a pointer fills a whole segment: a / stands after it');
      parts.push({ literal: text });
    }
  }
  const [first] = parts;
  if (first === undefined || !('literal' in first) || first.literal.startsWith('/'))
    throw new TypeError('it begins with literal text, which names the kind of resource');
  return parts;
};

const encodeArgument = (args: unknown, pointer: string): string => {
  // Arguments came through the strict reader and the frozen schema, so they are JSON.
  const value = resolvePointer(args as JsonValue, pointer);
  if (value === undefined) throw unresolved(pointer, 'missing');
  if (typeof value === 'object') throw unresolved(pointer, 'not a plain value');
  if (value === '') throw unresolved(pointer, 'empty');
  return encodeSegment(String(value), pointer);
};

/** RFC 3986 unreserved characters stand for themselves; dots alone are encoded, since `..` means another path. */
const encodeSegment = (text: string, pointer: string): string => {
  if (/^\.+$/.test(text)) return text.replaceAll('.', '%2E');
  try {
    return encodeURIComponent(text).replace(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  } catch {
    throw unresolved(pointer, 'not well-formed Unicode');
  }
};

const unresolved = (pointer: string, rule: string): CatalogError =>
  new CatalogError('PARAMS_INVALID', 'RESOURCE_UNRESOLVED', { pointer, rule });

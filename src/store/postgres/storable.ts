/** JSON on its way into `jsonb`, which holds no U+0000: text that a source chose must not be able to fail a write. */
const NUL = /\u0000/g;
const SHOWN = '\\u{0}';

const clean = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replace(NUL, SHOWN);
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name.replace(NUL, SHOWN), clean(inner)]),
    );
  }
  return value;
};

/** The JSON text of evidence or a verdict, with every U+0000 written out. */
export const storable = (value: unknown): string => JSON.stringify(clean(value ?? null));

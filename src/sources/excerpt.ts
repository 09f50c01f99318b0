/**
 * Short, harmless excerpts of what a source sent, for the evidence that operators read: printable ASCII only,
 * capped, and without any secret that the source may have echoed.
 */
const CAP = 200;

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
};

/**
 * @param bytes what arrived; bytes that are no UTF-8 show as U+FFFD
 * @param secrets values that are blotted out wherever they occur
 * @param cap highest number of characters taken from the text
 */
export const excerpt = (bytes: Uint8Array | string, secrets: readonly string[] = [], cap = CAP): string => {
  const text = typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes);
  let clean = text;
  for (const secret of secrets) {
    // A very short value would blot out ordinary text and protect nothing.
    if (secret.length >= 4) clean = clean.replaceAll(secret, '[redacted]');
  }
  const cut = clean.length > cap ? `${clean.slice(0, cap)}…(${clean.length} characters)` : clean;
  return cut.replaceAll(/[^\x20-\x7e…]/gu, escapeCharacter);
};

/** The `code` of a Node.js system or TLS error, or null. */
export const errorCode = (error: unknown): string | null => {
  if (typeof error !== 'object' || error === null) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses were tried: Node.js gathers the failures.
  if (error instanceof AggregateError) return errorCode(error.errors[0]);
  return 'cause' in error ? errorCode(error.cause) : null;
};

/**
 * Fatal UTF-8 decoding that says where the first bad byte is. The platform's decoder refuses without a
 * position, and an operator needs one to show to a server's author (V7).
 */

const CHUNK = 65_536;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * @param bytes any length
 * @returns the text, a byte order mark kept as U+FEFF so that the JSON grammar refuses it; or the offset, in
 * bytes, at which the text stops being UTF-8
 */
export const decodeUtf8 = (bytes: Uint8Array): { text: string } | { badByte: number } => {
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    return { badByte: findBadByte(bytes) };
  }
};

/** Goes by chunks, then by single bytes, so that a page of any size costs one more pass at most. */
const findBadByte = (bytes: Uint8Array): number => {
  for (let start = 0; start < bytes.length; start += CHUNK) {
    const from = alignedStart(bytes, start);
    const chunk = bytes.subarray(from, alignedStart(bytes, start + CHUNK));
    try {
      decoder.decode(chunk);
    } catch {
      const single = new TextDecoder('utf-8', { fatal: true });
      for (let i = 0; i < chunk.length; i++) {
        try {
          single.decode(chunk.subarray(i, i + 1), { stream: true });
        } catch {
          return from + i;
        }
      }
      return from + chunk.length;
    }
  }
  return bytes.length;
};

/** Steps back over at most three continuation bytes, so that no well-formed character is cut in two. */
const alignedStart = (bytes: Uint8Array, wanted: number): number => {
  if (wanted >= bytes.length) return bytes.length;
  let at = wanted;
  while (at > wanted - 3 && at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
};

/** Reads a request's body up to a limit, as bytes: the strict reader is the only one that interprets them (V7). */
import type { IncomingMessage } from 'node:http';
import { CatalogError } from '../domain/errors.js';

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * @param maxBytes of the body as it arrives
 * @throws CatalogError BAD_REQUEST/WRONG_CONTENT_TYPE, TOO_LARGE, INVALID_BODY where it breaks off
 */
export const readBody = async (request: IncomingMessage, maxBytes: number): Promise<Uint8Array> => {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '') || encoding !== 'identity')
    throw new CatalogError('BAD_REQUEST', 'WRONG_CONTENT_TYPE', { rule: 'application/json, not compressed' });
  const tooLarge = new CatalogError('BAD_REQUEST', 'TOO_LARGE', { maxBytes });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      request.off('data', onData);
      request.pause();
      reject(tooLarge);
    };
    request.on('data', onData);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () =>
      reject(new CatalogError('BAD_REQUEST', 'INVALID_BODY', { rule: 'the body broke off' })),
    );
    request.once('error', () => {});
  });
};

/** Reading and writing small JSON bodies on node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http';

const LIMIT = 1024 * 1024;

/** @throws Error where the body is larger than 1 MiB; SyntaxError where it is no JSON */
export const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LIMIT) throw new Error('the body is too large');
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
};

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

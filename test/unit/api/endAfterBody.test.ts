/** How much of a refused body is still read, over real connections: all that is sent by mistake, not what never ends. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type DrainBounds, endAfterBody } from '../../../src/api/endAfterBody.js';

let server: Server | null = null;
let socket: Socket | null = null;
afterEach(() => {
  socket?.destroy();
  server?.closeAllConnections();
  server?.close();
});

const open = async (bounds: DrainBounds): Promise<Socket> => {
  server = createServer((request, response) => endAfterBody(request, response, 'refused', bounds));
  // Whatever closes a connection here is the bound.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  return socket.setEncoding('utf8');
};
const head = (length: number) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

test('the answer comes before the body has, and the connection serves another request after it', async () => {
  const client = await open({});
  client.write(head(5));
  expect(String(await once(client, 'data'))).toMatch(/^HTTP\/1.1 200 [\s\S]*refused$/);
  client.write(`hello${head(0)}`);
  expect(String(await once(client, 'data'))).toMatch(/^HTTP\/1.1 200 [\s\S]*refused$/);
});

test.each<[string, DrainBounds]>([
  ['more than the bound', { maxBytes: 1_000 }],
  ['nothing for too long', { maxTime: 20 }],
])('whoever sends %s has the answer and is cut off', async (_, bounds) => {
  const client = await open(bounds);
  let text = '';
  client.on('data', (chunk) => {
    text += chunk;
  });
  client.on('error', () => {});
  client.write(head(1_000_000));
  await once(client, 'data');
  client.write('x'.repeat(2_000));
  await once(client, 'close');
  expect(text).toMatch(/refused$/);
});

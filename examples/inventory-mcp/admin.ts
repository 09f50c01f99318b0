/**
 * The control endpoint: changes the list while the server runs, and shows the journal. It listens on loopback
 * only, on a port of its own, and has no place in a real deployment.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { readBody, sendJson } from './httpBody.js';
import type { Inventory } from './mcpServer.js';

const OPERATION = z.discriminatedUnion('op', [
  z.object({ op: z.literal('change-reserve-schema') }),
  z.object({ op: z.literal('add-tool'), name: z.string().min(1).max(128) }),
  z.object({ op: z.literal('remove-tool'), name: z.string().min(1) }),
  z.object({
    op: z.literal('set-revision'),
    incarnation: z.string().exactOptional(),
    counter: z.number().int().nonnegative().exactOptional(),
  }),
  z.object({ op: z.literal('set-delay'), ms: z.number().int().min(0).max(600_000) }),
  z.object({ op: z.literal('hold'), page: z.number().int().nonnegative() }),
  z.object({ op: z.literal('release') }),
]);
export type AdminOperation = z.infer<typeof OPERATION>;

/** @param changed called after a change of the list */
export const applyOperation = (
  inventory: Inventory,
  operation: AdminOperation,
  changed: () => void,
): void => {
  const { catalog, pace } = inventory;
  switch (operation.op) {
    case 'set-delay':
      pace.setDelay(operation.ms);
      return;
    case 'hold':
      pace.hold(operation.page);
      return;
    case 'release':
      pace.release();
      return;
    default:
      catalog.change(operation);
      changed();
  }
};

const LOCAL_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

const state = ({ catalog, pace }: Inventory) => ({
  revision: catalog.revision,
  tools: catalog.tools.length,
  waiting: pace.waiting,
});

export const createAdmin = (inventory: Inventory, changed: () => void): Server => {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A page in a browser could reach loopback under another name (DNS rebinding).
    if (!LOCAL_HOST.test(request.headers.host ?? ''))
      return sendJson(response, 403, { error: 'loopback only' });
    const path = (request.url ?? '').split('?')[0];
    if (request.method === 'GET' && path === '/admin/journal')
      return sendJson(response, 200, inventory.journal.entries);
    if (request.method === 'GET' && path === '/admin/state') return sendJson(response, 200, state(inventory));
    if (request.method !== 'POST' || path !== '/admin/change')
      return sendJson(response, 404, { error: 'no such path' });
    const read = OPERATION.safeParse(await readBody(request));
    if (!read.success) return sendJson(response, 400, { error: z.prettifyError(read.error) });
    applyOperation(inventory, read.data, changed);
    sendJson(response, 200, state(inventory));
  };
  return createServer((request, response) => {
    handle(request, response).catch(() =>
      sendJson(response, 400, { error: 'the request could not be read' }),
    );
  });
};

#!/usr/bin/env node
/**
 * The command line of the example server. Over HTTP it prints its addresses as one JSON line when it is ready.
 */
import { parseArgs } from 'node:util';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createAdmin } from './admin.js';
import { createMcpServer, serve } from './mcpServer.js';
import {
  type InventoryOptions,
  listen,
  openInventory,
  startInventoryServer,
  stopListening,
} from './server.js';

const USAGE = `Usage: main.js [--stdio] --state FOLDER [--host 127.0.0.1] [--port 0] [--admin-port 0]
               [--tools 120] [--page-size 25] [--delay-ms 0] [--token TOKEN]`;

const fail = (message: string): never => {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
};

const wholeNumber = (name: string, text: string | undefined, minimum: number): number | undefined => {
  if (text === undefined) return undefined;
  const value = Number(text);
  return Number.isInteger(value) && value >= minimum
    ? value
    : fail(`--${name} takes a whole number from ${minimum}`);
};

const readArguments = () => {
  const text = { type: 'string' } as const;
  try {
    const options = {
      stdio: { type: 'boolean' },
      help: { type: 'boolean' },
      state: text,
      host: text,
      port: text,
    } as const;
    const more = {
      'admin-port': text,
      tools: text,
      'page-size': text,
      'delay-ms': text,
      token: text,
    } as const;
    return parseArgs({ options: { ...options, ...more } }).values;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
};

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { [P in K]: V });

const toOptions = (values: ReturnType<typeof readArguments>): InventoryOptions => ({
  state: values.state ?? fail('--state is required'),
  ...optional('host', values.host),
  ...optional('port', wholeNumber('port', values.port, 0)),
  ...optional('adminPort', wholeNumber('admin-port', values['admin-port'], 0)),
  ...optional('tools', wholeNumber('tools', values.tools, 0)),
  ...optional('pageSize', wholeNumber('page-size', values['page-size'], 1)),
  ...optional('delayMs', wholeNumber('delay-ms', values['delay-ms'], 0)),
  ...optional('token', values.token),
});

const runHttp = async (options: InventoryOptions): Promise<void> => {
  const server = await startInventoryServer(options);
  const { url, adminUrl, inventory } = server;
  const ready = { ready: true, url, adminUrl, pid: process.pid, revision: inventory.catalog.revision };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
  const stop = () => void server.close().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
};

const runStdio = async (options: InventoryOptions): Promise<void> => {
  const inventory = openInventory(options);
  const server = createMcpServer(inventory, true);
  const admin = createAdmin(inventory, () => void server.sendToolListChanged().catch(() => undefined));
  const adminUrl = await listen(admin, options.adminPort ?? 0, '127.0.0.1');
  // Standard output belongs to the protocol.
  process.stderr.write(`${JSON.stringify({ ready: true, adminUrl, pid: process.pid })}\n`);
  await serve(server, new StdioServerTransport(), inventory.journal, null);
  const stop = () => {
    inventory.pace.release();
    void stopListening(admin).then(() => process.exit(0));
  };
  process.stdin.once('end', stop);
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
};

const values = readArguments();
if (values.help === true) {
  process.stdout.write(`${USAGE}\n`);
} else {
  const run = values.stdio === true ? runStdio : runHttp;
  run(toOptions(values)).catch((error: unknown) => {
    process.stderr.write(`inventory-mcp: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  });
}

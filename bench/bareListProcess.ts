/**
 * The baselines of `discovery`: what somebody would write who only wants the tools. A bare loop of raw `tools/list`
 * requests with the SDK's client, and that loop with one compile a tool in one shared ajv instance. Its parent asks for
 * one of the two by name, and is told what it took.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';

export interface BareListTask {
  readonly name: 'list' | 'compile';
  readonly url: string;
}

export interface BareListDone {
  readonly seconds: number;
  readonly tools: number;
}

interface Page {
  readonly tools: readonly { readonly name: string; readonly inputSchema: object }[];
  readonly nextCursor?: string;
}

/** @returns the number of tools that were read */
const list = async (url: string, each: (page: Page) => void): Promise<number> => {
  const client = new Client({ name: 'bare-list', version: '0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  let tools = 0;
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = (await client.request({ method: 'tools/list', params }, z.unknown())) as Page;
    tools += page.tools.length;
    each(page);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  await client.close();
  return tools;
};

const TASKS: Readonly<Record<BareListTask['name'], (url: string) => Promise<number>>> = {
  list: (url) => list(url, () => undefined),
  compile: (url) => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    return list(url, (page) => {
      for (const { inputSchema } of page.tools) ajv.compile(inputSchema);
    });
  },
};

process.on('message', async ({ name, url }: BareListTask) => {
  const begun = performance.now();
  const tools = await TASKS[name](url);
  process.send?.({ seconds: (performance.now() - begun) / 1_000, tools } satisfies BareListDone);
});

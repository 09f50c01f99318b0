/** The MCP tool source: picks the transport by the kind of target. */
import type { ToolSource } from '../source.js';
import { connectHttp } from './rev2025-11-25/httpSource.js';
import { connectStdio } from './rev2025-11-25/stdioSource.js';

export const mcpSource: ToolSource = {
  connect: (target, { signal, session }) =>
    target.kind === 'mcp-http' ? connectHttp(target, signal, session) : connectStdio(target, signal),
};

/**
 * A stdio transport that keeps each line as it came. The SDK's own one parses lines at once, gathers without a
 * bound of ours, and ends only the process it started and not that one's children.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { errorCode, excerpt } from '../../excerpt.js';
import { endGroup, type GroupOptions, spawnGroup } from '../../processGroup.js';
import { SourceFault } from '../../source.js';
import type { ExchangeTap } from '../exchange.js';

const LF = 0x0a;
const CR = 0x0d;
const STDERR_BYTES = 4_096;

export interface StdioOptions extends GroupOptions {
  readonly tap: ExchangeTap;
  readonly lineBytes: number;
  readonly secrets: readonly string[];
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  protocolVersion = 'unknown';

  readonly #options: StdioOptions;
  #child: ChildProcessWithoutNullStreams | null = null;
  #parts: Uint8Array[] = [];
  #length = 0;
  #stderr = Buffer.alloc(0);
  #fault: SourceFault | null = null;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** Why the process can no longer be asked, or null. */
  get fault(): SourceFault | null {
    return this.#fault;
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  async start(): Promise<void> {
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawnGroup(this.#options);
    } catch (error) {
      throw this.#failed({ error: errorCode(error) ?? 'UNKNOWN' });
    }
    this.#child = child;
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_BYTES);
    });
    // `close` comes after the last byte of output, so that no answer is lost to a process that ends at once.
    child.on('close', (exitCode, signal) => {
      this.#end(this.#failed({ exitCode, signal }));
      this.onclose?.();
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        const fault = this.#failed({ error: errorCode(error) ?? 'UNKNOWN' });
        this.#end(fault);
        reject(fault);
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#fault !== null) throw this.#fault;
    const child = this.#child;
    if (child === null) throw new TypeError('the transport was not started');
    this.#options.tap.sending(message);
    await new Promise<void>((resolve) => {
      // A write that fails is followed by the end of the process, which says why.
      child.stdin.write(serializeMessage(message), () => resolve());
    });
  }

  async close(): Promise<void> {
    if (this.#child !== null) await endGroup(this.#child);
  }

  #failed(evidence: Readonly<Record<string, unknown>>): SourceFault {
    const stderr = excerpt(this.#stderr, this.#options.secrets, 600);
    return new SourceFault('PROCESS_FAILED', { ...evidence, ...(stderr === '' ? {} : { stderr }) });
  }

  #end(fault: SourceFault): void {
    this.#fault ??= fault;
    this.#parts = [];
    this.#options.tap.fault(null, this.#fault);
  }

  #take(chunk: Buffer): void {
    let rest: Buffer = chunk;
    while (this.#fault === null) {
      const at = rest.indexOf(LF);
      const piece = at === -1 ? rest : rest.subarray(0, at);
      this.#length += piece.length;
      if (this.#length > this.#options.lineBytes) {
        this.#end(new SourceFault('PAGE_TOO_LARGE', { limit: this.#options.lineBytes }));
        void this.close();
        return;
      }
      this.#parts.push(piece);
      if (at === -1) return;
      const line = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#length = 0;
      rest = rest.subarray(at + 1);
      this.#line(line.at(-1) === CR ? line.subarray(0, -1) : line);
    }
  }

  #line(line: Buffer): void {
    if (line.length === 0) return;
    this.#options.tap.message(null, line);
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line.toString('utf8'));
    } catch (error) {
      // A banner before the start is common; within an exchange the tap has judged the line already.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.onmessage?.(message);
  }
}

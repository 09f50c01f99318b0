/**
 * A stdio transport that keeps each line as it came. The SDK's own one parses lines at once, gathers without a
 * bound of ours, and ends only the process it started and not that one's children.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { ByteGatherer } from '../../byteGatherer.js';
import { errorCode, excerpt } from '../../excerpt.js';
import { endGroup, type GroupOptions, spawnGroup } from '../../processGroup.js';
import { SourceFault } from '../../source.js';
import { type ExchangeTap, MAX_MESSAGES, tooManyMessages } from '../exchange.js';

const LF = 0x0a;
const CR = 0x0d;
/** Kept of what the server complains; more than is shown, so that a secret is whole when it is blotted out. */
const STDERR_BYTES = 16_384;
/** After so many lines the rest waits for the next turn, so that timers and heartbeats run in a flood. */
const LINES_PER_TURN = 100;

export interface StdioOptions extends GroupOptions {
  readonly tap: ExchangeTap;
  /** Most bytes that may come between one request and the next. */
  readonly pageBytes: number;
  readonly secrets: readonly string[];
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  protocolVersion = 'unknown';

  readonly #options: StdioOptions;
  #child: ChildProcessWithoutNullStreams | null = null;
  readonly #unfinished = new ByteGatherer();
  /** What came and is not cut into lines yet. */
  #rest: Buffer = Buffer.alloc(0);
  /** Whether another turn is to come for it. */
  #waiting = false;
  /** Since the last request that waits for an answer. */
  #sinceRequest = { method: 'none', lines: 0, bytes: 0, limit: 0 };
  #stderr = Buffer.alloc(0);
  #fault: SourceFault | null = null;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#sinceRequest.limit = options.pageBytes;
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
      while (this.#rest.length > 0) this.#cut();
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
    const exchange = this.#options.tap.sending(message);
    if (exchange !== null) {
      this.#sinceRequest = { method: exchange.method, lines: 0, bytes: 0, limit: exchange.bytes };
    }
    await new Promise<void>((resolve) => {
      // A write that fails is followed by the end of the process, which says why.
      child.stdin.write(serializeMessage(message), () => resolve());
    });
  }

  async close(): Promise<void> {
    if (this.#child !== null) await endGroup(this.#child);
  }

  #failed(evidence: Readonly<Record<string, unknown>>): SourceFault {
    const stderr = excerpt(this.#stderr, this.#options.secrets, { of: 'end' });
    return new SourceFault('PROCESS_FAILED', { ...evidence, ...(stderr === '' ? {} : { stderr }) });
  }

  #end(fault: SourceFault): void {
    this.#fault ??= fault;
    this.#unfinished.take();
    this.#rest = Buffer.alloc(0);
    this.#options.tap.fault(null, this.#fault);
  }

  /** A server that floods is ended: nothing that it still writes is read. */
  #flooded(fault: SourceFault): void {
    this.#end(fault);
    this.#child?.stdout.destroy();
    void this.close();
  }

  #take(chunk: Buffer): void {
    if (this.#fault !== null) return;
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (!this.#waiting) this.#turn();
  }

  #turn(): void {
    this.#cut();
    this.#waiting = this.#rest.length > 0;
    if (this.#waiting) {
      this.#child?.stdout.pause();
      setImmediate(() => this.#turn());
    } else if (this.#child?.stdout.isPaused() === true) this.#child.stdout.resume();
  }

  /** Cuts lines off what has come, as many as one turn may take. */
  #cut(): void {
    for (let turn = 0; turn < LINES_PER_TURN && this.#rest.length > 0 && this.#fault === null; turn++) {
      const at = this.#rest.indexOf(LF);
      const piece = at === -1 ? this.#rest : this.#rest.subarray(0, at);
      this.#rest = this.#rest.subarray(at === -1 ? piece.length : at + 1);
      const since = this.#sinceRequest;
      since.bytes += piece.length;
      if (at !== -1) since.lines++;
      if (since.bytes > since.limit) this.#flooded(new SourceFault('PAGE_TOO_LARGE', { limit: since.limit }));
      else if (since.lines > MAX_MESSAGES) this.#flooded(tooManyMessages(since.method));
      else {
        this.#unfinished.append(piece);
        if (at === -1) return;
        const line = this.#unfinished.take();
        this.#line(line.at(-1) === CR ? line.subarray(0, -1) : line);
      }
    }
  }

  #line(line: Buffer): void {
    if (line.length === 0) return;
    const shown = this.#options.tap.message(null, line);
    if (shown === null) return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(Buffer.from(shown).toString('utf8'));
    } catch (error) {
      // A banner before the start is common; within an exchange the tap has judged the line already.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.onmessage?.(message);
  }
}

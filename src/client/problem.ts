/** What goes wrong between a client and Genlock: an answer that is a problem (RFC 9457), or no answer at all. */
import type { Code } from '../domain/errors.js';
import type { SignedReceipt } from './types.js';

/** A refusal by Genlock. `next` says what to do about it. */
export class GenlockProblem extends Error {
  override readonly name = 'GenlockProblem';
  readonly status: number;
  readonly code: Code;
  readonly reason: string;
  readonly detail: string;
  readonly next: string;
  readonly retry: boolean;
  readonly details: Readonly<Record<string, unknown>>;
  /** Finds the request in Genlock's log. */
  readonly requestId: string | null;
  /** Of a refused admission. */
  readonly receipt: SignedReceipt | null;

  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    const text = (member: string): string => {
      const value = problem[member];
      return typeof value === 'string' ? value : '';
    };
    super(`${text('code')}/${text('reason')}: ${text('detail')}`);
    this.status = status;
    this.code = text('code') as Code;
    this.reason = text('reason');
    this.detail = text('detail');
    this.next = text('next');
    this.retry = problem['retry'] === true;
    this.details = (problem['details'] ?? {}) as Readonly<Record<string, unknown>>;
    this.requestId = text('instance').replace(/^urn:uuid:/, '') || null;
    this.receipt = (problem['receipt'] ?? null) as SignedReceipt | null;
  }
}

/** Nothing answered, or what answered is not Genlock. Whether the request was carried out is not known. */
export class GenlockUnreachable extends Error {
  override readonly name: string = 'GenlockUnreachable';
  readonly url: string;

  constructor(url: string, options: { cause?: unknown; message?: string } = {}) {
    super(options.message ?? `no answer of Genlock at ${url}`, options);
    this.url = url;
  }
}

/** What answers at the address is another program: the address is wrong. */
export class NotGenlock extends GenlockUnreachable {
  override readonly name = 'NotGenlock';

  constructor(url: string, options: { cause?: unknown } = {}) {
    super(url, { ...options, message: `what answers at ${url} is not Genlock's API` });
  }
}

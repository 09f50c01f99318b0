/**
 * From what Node.js says about a broken connection to the reason that an operator reads. Only codes are
 * looked at, never message text.
 */
import { errorCode } from './excerpt.js';
import { SourceFault } from './source.js';

/** Certificate verification codes of OpenSSL that Node.js passes on without a common prefix. */
const CERTIFICATE_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'HOSTNAME_MISMATCH',
  'EPROTO',
]);
const TLS_PREFIX = /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_)/;
/** The answer is not HTTP at all. */
const PARSER_PREFIX = /^HPE_/;

/**
 * @param stage `connect` until the response's head has come, `body` after it
 * @param where host and port, shown to operators
 */
export const networkFault = (error: unknown, stage: 'connect' | 'body', where: string): SourceFault => {
  if (error instanceof SourceFault) return error;
  const code = errorCode(error) ?? 'UNKNOWN';
  const evidence = { endpoint: where, error: code };
  if (CERTIFICATE_CODES.has(code) || TLS_PREFIX.test(code)) {
    return new SourceFault('TLS_FAILED', evidence);
  }
  if (code === 'HPE_HEADER_OVERFLOW')
    return new SourceFault('PAGE_TOO_LARGE', { ...evidence, part: 'headers' });
  if (PARSER_PREFIX.test(code)) return new SourceFault('NOT_MCP', evidence);
  if (stage === 'body')
    return new SourceFault('UPSTREAM_ERROR', { ...evidence, cut: 'body' }, { transient: true });
  return new SourceFault('UNREACHABLE', evidence, { transient: code !== 'ENOTFOUND' });
};

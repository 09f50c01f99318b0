/** The form of each kind of configuration value. What a rule says is all that is told of a wrong value. */
import { z } from 'zod';
import { parseTenantId, type TenantId } from '../domain/ids.js';
import { Secret } from '../domain/secret.js';

export type LoginRole = 'genlock_api' | 'genlock_operator' | 'genlock_worker';

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.[0-9]{1,3}){3}$/.test(hostname);

/** Loopback needs no TLS; what crosses a network does, since keys and tokens travel there. */
const isSafeOrigin = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
};

export const webUrl = z.string().refine(isSafeOrigin, {
  error: 'an https URL (http on loopback only) without user, password or fragment',
  abort: true,
});
export const publicUrl = webUrl
  .refine((text) => new URL(text).search === '', { error: 'a URL without a query' })
  .transform((text) => text.replace(/\/+$/, ''));

export const postgresUrl = (role?: LoginRole) =>
  z
    .string()
    .refine(
      (text) => {
        if (!URL.canParse(text)) return false;
        const { protocol, hostname, username } = new URL(text);
        return /^postgres(ql)?:$/.test(protocol) && hostname !== '' && username !== '';
      },
      { error: 'a URL postgres://user:password@host:port/database', abort: true },
    )
    .refine((text) => role === undefined || decodeURIComponent(new URL(text).username) === role, {
      error: `its user is ${role}`,
    })
    .transform((text) => new Secret(text));

export const wholeNumber = (low: number, high: number, unit: string) =>
  z
    .string()
    .refine((text) => /^[0-9]{1,9}$/.test(text) && Number(text) >= low && Number(text) <= high, {
      error: `a whole number of ${unit}, ${low} to ${high}`,
    })
    .transform(Number);

export const yesOrNo = z
  .enum(['true', 'false'], { error: 'true or false' })
  .transform((text): boolean => text === 'true');
export const name = z
  .string()
  .regex(/^[A-Za-z0-9._:@-]{1,128}$/, { error: '1–128 letters, digits and . _ : @ -' });
export const path = z.string().max(4_096, { error: 'at most 4,096 characters' });
export const tenants = z.string().transform((text, context): ReadonlySet<TenantId> => {
  try {
    return new Set(text.split(',').map((tenant) => parseTenantId(tenant.trim())));
  } catch {
    context.addIssue({ code: 'custom', message: 'tenants, with commas between them' });
    return z.NEVER;
  }
});
export const sessionKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .refine((keys) => keys.every((key) => /^[A-Za-z0-9+/_-]{43}=?$/.test(key)), {
    error: 'keys of 32 bytes in base64 (openssl rand -base64 32), with commas between them',
  })
  .transform((keys): readonly Secret[] => keys.map((key) => new Secret(key)));
export const hostAndPort = z
  .string()
  .regex(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$/, { error: 'host:port' });
export const host = z.string().regex(/^[A-Za-z0-9.:-]{1,253}$/, { error: 'a host name or an address' });
/** Of a caller; never longer than what a server takes in its headers. */
export const token = z
  .string()
  .regex(/^[\x21-\x7e]{1,8192}$/, { error: 'a token: at most 8,192 visible ASCII characters' })
  .transform((text) => new Secret(text));

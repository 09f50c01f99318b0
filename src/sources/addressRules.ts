/**
 * Which addresses a scan may connect to. The rule is applied to the resolved address at the moment of connecting,
 * so that a name that resolves differently the second time (DNS rebinding) meets it too.
 */
import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { SourceFault } from './source.js';

/** IPv4 ranges that are not globally reachable (IANA special-purpose registry), and multicast. */
const IPV4_SPECIAL: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Globally routed, and yet the host's own metadata service at one of the large clouds.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

/** Special ranges inside 2000::/3, the only global unicast range of IPv6; 6to4 and Teredo can wrap IPv4 ones. */
const IPV6_SPECIAL: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const special4 = new BlockList();
for (const [net, prefix] of IPV4_SPECIAL) special4.addSubnet(net, prefix, 'ipv4');
const special6 = new BlockList();
for (const [net, prefix] of IPV6_SPECIAL) special6.addSubnet(net, prefix, 'ipv6');
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an address is loopback, private, link-local, multicast or otherwise not globally routed. What is no
 * IP address counts as private, and so does every IPv6 address that embeds an IPv4 one.
 */
export const isPrivateAddress = (address: string): boolean => {
  const bare = address.split('%')[0] ?? '';
  switch (isIP(bare)) {
    case 4:
      return special4.check(bare, 'ipv4');
    case 6:
      return !global6.check(bare, 'ipv6') || special6.check(bare, 'ipv6');
    default:
      return true;
  }
};

const refused = (host: string, addresses: readonly string[]): SourceFault =>
  new SourceFault('ADDRESS_REFUSED', { host, addresses, rule: 'allowPrivateAddresses is off' });

/**
 * Node.js never calls `lookup` for a host that is an address already, so that case is checked here. A URL has its host
 * in one spelling, whatever it was written as; names of this machine (RFC 6761) need no name server to be known.
 * @throws SourceFault ADDRESS_REFUSED
 */
export const checkLiteralHost = (hostname: string, allowPrivate: boolean): void => {
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (allowPrivate) return;
  if (isIP(bare) !== 0 && isPrivateAddress(bare)) throw refused(hostname, [bare]);
  if (/(?:^|\.)localhost\.?$/i.test(bare)) throw refused(hostname, []);
};

/** Answers with every address of a name, as `lookup` of node:dns does with `all`. */
export type ResolveName = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A `lookup` for node:net that refuses a name as soon as one of its addresses is not allowed. It keeps nothing: the
 * address that it checked is the one that is connected to, and the next connection asks and checks anew.
 */
export const guardedLookup =
  (allowPrivate: boolean, resolveName: ResolveName = dnsLookup): LookupFunction =>
  (hostname, options, callback) => {
    resolveName(hostname, { ...(options as LookupOptions), all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const offending = allowPrivate ? [] : addresses.map((a) => a.address).filter(isPrivateAddress);
      const first = addresses[0];
      if (offending.length > 0 || first === undefined) {
        callback(refused(hostname, offending), '', 0);
      } else if (options.all === true) {
        (callback as unknown as (e: null, all: LookupAddress[]) => void)(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };

import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * The one spelling of an address that everything compares and shows: IPv4-mapped IPv6 is folded to IPv4, IPv6 is in its
 * short form. Undefined when the text is no address (octal, hexadecimal and short IPv4 forms are none).
 */
export function canonicalIp(text: string): string | undefined {
  return plainIpv4(text) ?? parse(text)?.toString();
}

/**
 * Whom an address stands for when calls are counted: itself, or the /64 of an IPv6 address, since whoever has one address
 * of a /64 has all of them. Text that is no address stands for itself.
 */
export function subscriberOf(text: string): string {
  const plain = plainIpv4(text);
  if (plain !== undefined) return plain;
  const address = parse(text);
  if (address === undefined || address.kind() === 'ipv4') return address?.toString() ?? text;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`;
}

/** True for one address or a CIDR range, as allowlists and trusted proxies are written; a zone is in neither (contract 5.7). */
export function isIpRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** True when the address lies in one of the ranges; a bare address is a range of one, an empty list holds nothing (contract 5.7). */
export function isIpWithin(text: string, ranges: readonly string[]): boolean {
  const plain = plainIpv4(text);
  if (plain !== undefined && ranges.includes(plain)) return true;
  const address = parse(text);
  return address !== undefined && ranges.some((range) => contains(parseRange(range), address));
}

/** True when every address of a range lies in one of the others, which are told apart as `isIpWithin` does; two that only cover it together do not. */
export function isRangeWithin(text: string, ranges: readonly string[]): boolean {
  const inner = parseRange(text);
  return inner !== undefined && ranges.some((one) => isInside(inner, parseRange(one)));
}

function isInside([address, length]: [Address, number], outer: [Address, number] | undefined): boolean {
  return outer !== undefined && outer[1] <= length && contains(outer, address);
}

function contains(range: [Address, number] | undefined, address: Address): boolean {
  return range !== undefined && range[0].kind() === address.kind() && address.match(range[0], range[1]);
}

function parseRange(text: string): [Address, number] | undefined {
  const [host = '', bits, ...rest] = text.split('/');
  const address = host.includes('%') ? undefined : parse(host);
  if (address === undefined || rest.length > 0) return undefined;
  const most = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, most];
  if (!/^\d{1,3}$/.test(bits)) return undefined;
  const length = address.kind() === 'ipv4' && host.includes(':') ? Number(bits) - 96 : Number(bits);
  return length >= 0 && length <= most ? [address, length] : undefined;
}

/** An IPv4 address as it is written mostly, or by a socket of both families, known by its look: every request asks for it several times. */
function plainIpv4(text: string): string | undefined {
  const dotted = text.startsWith('::ffff:') ? text.slice('::ffff:'.length) : text;
  return isIPv4(dotted) ? dotted : undefined;
}

function parse(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined;
  // ipaddr.js takes the deprecated IPv4-compatible `::192.0.2.1` for the IPv4-mapped `::ffff:192.0.2.1`; they are different addresses.
  if (/^::\d+\./.test(text)) return undefined;
  // A zone names an interface of this machine, not a different caller.
  const address = ipaddr.IPv6.parse(text.replace(/%.*$/s, ''));
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * The one spelling of an address that everything compares and shows: IPv4-mapped IPv6 is folded to IPv4, IPv6 is in its
 * short form. Undefined when the text is no address (octal, hexadecimal and short IPv4 forms are none).
 */
export function canonicalIp(text: string): string | undefined {
  return parse(text)?.toString();
}

/** True for one address or a CIDR range, as allowlists and trusted proxies are written (contract 5.7). */
export function isIpRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** True when the address lies in one of the ranges; a bare address is a range of one, an empty list holds nothing (contract 5.7). */
export function isIpWithin(text: string, ranges: readonly string[]): boolean {
  const address = parse(text);
  return address !== undefined && ranges.some((range) => contains(parseRange(range), address));
}

function contains(range: [Address, number] | undefined, address: Address): boolean {
  return range !== undefined && range[0].kind() === address.kind() && address.match(range[0], range[1]);
}

function parseRange(text: string): [Address, number] | undefined {
  const [host = '', bits, ...rest] = text.split('/');
  const address = parse(host);
  if (address === undefined || rest.length > 0) return undefined;
  const most = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, most];
  if (!/^\d{1,3}$/.test(bits)) return undefined;
  const length = address.kind() === 'ipv4' && host.includes(':') ? Number(bits) - 96 : Number(bits);
  return length >= 0 && length <= most ? [address, length] : undefined;
}

function parse(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

import { checksumAddress } from 'viem';
import type { AddressCodec } from '../chain.ts';

const SHAPE = /^0x[0-9a-fA-F]{40}$/;
const TXID = /^0x[0-9a-fA-F]{64}$/;
const ZERO = `0x${'0'.repeat(40)}`;

/**
 * EVM addresses: lower case inside, EIP-55 for people (decisions 10). Mixed case must carry the right checksum; all lower
 * and all upper case carry none and are accepted. The zero address is nobody's, so it is refused.
 */
export const evmAddress: AddressCodec = {
  parse(text) {
    if (!SHAPE.test(text)) return { ok: false, problem: 'must be an EVM address: 0x followed by 40 hexadecimal digits' };
    const digits = text.slice(2);
    const canonical = text.toLowerCase();
    const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
    if (mixed && display(canonical) !== text) return { ok: false, problem: 'has mixed case but a wrong EIP-55 checksum' };
    if (canonical === ZERO) return { ok: false, problem: 'is the zero address' };
    return { ok: true, canonical };
  },
  display,
  parseTxid: (text) =>
    TXID.test(text)
      ? { ok: true, canonical: text.toLowerCase() }
      : { ok: false, problem: 'must be an EVM transaction hash: 0x followed by 64 hexadecimal digits' },
};

function display(canonical: string): string {
  return checksumAddress(canonical as `0x${string}`);
}

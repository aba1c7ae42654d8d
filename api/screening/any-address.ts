import type { Chain } from '#api/deps.ts';

/** Reads an address of any family of this deployment in its canonical form; undefined when it is none. */
export function anyAddress(chains: Iterable<Pick<Chain, 'codec'>>): (text: string) => string | undefined {
  const codecs = [...new Set([...chains].map((chain) => chain.codec))];
  return (text) => {
    for (const codec of codecs) {
      const parsed = codec.parse(text);
      if (parsed.ok) return parsed.canonical;
    }
    return undefined;
  };
}

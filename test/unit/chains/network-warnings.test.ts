import { describe, expect, it, vi } from 'vitest';
import type { NodeAbility } from '#shared/chains/chain.ts';
import { watchLacks } from '#shared/chains/watch-lacks.ts';
import { nobodyTraces, warningChecks, warningsOf } from '#shared/chains/network-warnings.ts';
import type { JoinedReader } from '#shared/chains/join-readers.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';

const ONE = 'https://one.example/key';

describe('what is said of nodes that lack something', () => {
  const network = { rpcUrls: [ONE, 'https://two.example'], nativeSymbol: 'ETH' };
  const without = { provider: 'one.example', lacks: ['access lists', 'traces'] } as const;
  const whole = { provider: 'two.example', lacks: [] };
  const silent = { provider: 'two.example', lacks: null };

  it('is which node it is and what it lacks', () => {
    expect(warningsOf(network, [without, whole])).toEqual(['one.example does not offer access lists, traces']);
    expect(warningsOf(network, [whole, silent])).toEqual([]);
  });

  it('is that the coin is not offered, or offered by consent, where none of those that answered traces', () => {
    for (const told of [[without], [without, silent]]) {
      expect(warningsOf(network, told)[1]).toMatch(/^no endpoint traces: ETH is not offered, tokens are/);
      expect(warningsOf({ ...network, acceptsUnseenInternalTransfers: true }, told)[1]).toMatch(/which acceptsUnseenInternalTransfers accepts/);
    }
    expect(nobodyTraces([without, whole])).toBe(false);
    expect(nobodyTraces([silent])).toBe(false);
  });
});

describe('what is logged of nodes that lack something', () => {
  it('is one line when it is found, and one when it is there again', async () => {
    vi.useFakeTimers();
    let lacks: readonly NodeAbility[] = ['traces'];
    const lines: string[] = [];
    const say = (level: string) => (fields: object, message: string) => lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    const reader = { findLacks: async () => [{ provider: 'one.example', lacks }] } as unknown as JoinedReader;
    const log = { warn: say('warn'), info: say('info'), error: say('error') };
    const stop = watchLacks({ name: 'ethereum', rpcUrls: [ONE], nativeSymbol: 'ETH' } as NetworkConfig, reader, log);
    try {
      await vi.advanceTimersByTimeAsync(150_000);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^warn .*one\.example does not offer traces.*ETH is not offered/);
      lacks = [];
      await vi.advanceTimersByTimeAsync(60_000);
      expect(lines[1]).toMatch(/^info .*ethereum/);
      expect(lines).toHaveLength(2);
    } finally {
      stop();
      vi.useRealTimers();
    }
  });
});

describe('what is said of a network with one provider', () => {
  it.each<[string[], string | undefined, RegExp]>([
    [[ONE], undefined, /up to 1000 USD a payment/],
    [[ONE], '250', /up to 250 USD a payment/],
    [[ONE, 'https://one.example/another-key'], undefined, /^one provider: an endpoint that lies consistently can make you credit what was not paid/],
  ])('is what a lie of it may cost: %j, %s', (rpcUrls, most, said) => {
    const warnings = warningsOf({ rpcUrls, ...(most === undefined ? {} : { secondOpinionUsd: most }) });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(said);
    expect(warnings[0]).not.toContain('key');
  });

  it('is nothing where there are two', () => {
    expect(warningsOf({ rpcUrls: [ONE, 'https://two.example'] })).toEqual([]);
  });

  it('makes no process unready, and is a line for each such network', () => {
    const networks = [
      { name: 'tron', rpcUrls: [ONE] },
      { name: 'ethereum', rpcUrls: [ONE, 'https://two.example'] },
    ] as NetworkConfig[];
    const checks = warningChecks(networks, () => []);
    expect(checks['warning:ethereum']?.()).toBeUndefined();
    expect(checks['warning:tron']?.()).toEqual({ well: warningsOf({ rpcUrls: [ONE] })[0] });
  });
});

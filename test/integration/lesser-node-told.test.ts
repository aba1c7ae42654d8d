import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { Deployable, RunningApi } from '#test/harness/deployables.ts';
import { type LesserNode, startLesserNode } from '#test/harness/lesser-node.ts';
import { aWorld, type World } from '#test/harness/world.ts';

describe('a deployment whose only node lacks something', () => {
  let world: World;
  let lesser: LesserNode;
  let api: RunningApi;
  let indexer: Deployable;
  beforeAll(async () => {
    lesser = await startLesserNode('', ['block receipts', 'traces']);
    world = await aWorld({
      blockSeconds: 1,
      configure: (network) => {
        lesser.target = network.rpcUrls[0] as string;
        return { ...network, rpcUrls: [lesser.url] };
      },
    });
    [api, indexer] = await Promise.all([world.startApi(), world.startIndexer()]);
  });
  afterAll(async () => {
    await world?.stop();
    await lesser?.stop();
  });

  it('says so in the log and on /readyz of both processes, which stay ready', async () => {
    for (const one of [api, indexer]) {
      const told = await waitFor(
        async () => {
          const answer = await fetch(`${one.opsUrl}/readyz`);
          const { checks } = (await answer.json()) as { checks: Record<string, string> };
          return answer.status === 200 && Object.entries(checks).find(([name, text]) => name.startsWith('warning:') && text.includes('does not offer'))?.[1];
        },
        { what: 'the warning of a process that is ready', timeoutMs: 60_000 },
      );
      expect(told).toMatch(/does not offer block receipts, traces; no endpoint traces: ETH is not offered, tokens are/);
      expect(one.lines.filter((line) => line.includes('nodes of a network lack something'))).toHaveLength(1);
    }
  });
});

import { expect, it } from 'vitest';
import { walkBlock } from '#shared/chains/bitcoin/walk-block.ts';
import type { WatchSet } from '#shared/chains/chain.ts';
import { walkParityTraces } from '#shared/chains/evm/walk-traces.ts';
import { sha256Each } from '#shared/chains/kernel.ts';
import { parseLossless } from '#shared/chains/tron/json.ts';
import { UnreadReply } from '#shared/chains/tron/unread-reply.ts';
import { walkBlocks } from '#shared/chains/tron/walk-block.ts';
import { Unread } from '#shared/chains/unread.ts';
import { atOnce, type Steps } from '#shared/core/turns.ts';
import { madeBlock, madeTransaction, REGTEST } from '#test/fixtures/made-bitcoin-block.ts';
import { hasKey, OURS, payTo, SIGNATURE, THEIRS } from '#test/fixtures/walked-bitcoin.ts';
import { traceableBlocks } from '#test/fixtures/walked-blocks.ts';
import { infosOf, recordedTron, sealed, textOf } from '#test/fixtures/walked-tron.ts';

const EVERYONE: WatchSet = { has: () => true };
const NO_ONE: WatchSet = { has: () => false };
const unread = (text: string): UnreadReply => new UnreadReply(Buffer.from(text), () => parseLossless(text));

it('walks of several networks that take turns find what each finds by itself', () => {
  const made = madeBlock(
    Array.from({ length: 700 }, (_, i) => madeTransaction([{ witness: [SIGNATURE, i % 97 === 0 ? OURS : THEIRS] }], [payTo(i % 89 === 0 ? OURS : THEIRS)])),
  );
  const tron = sealed(recordedTron());
  const [block, infos] = [textOf(tron), textOf(infosOf(tron))];
  const traces = traceableBlocks()
    .slice(0, 2)
    .map(({ recorded, header }) => ({ text: JSON.stringify(recorded.parityTraces), hash: header.hash }));
  const walks: [string, () => Steps<unknown>][] = [
    ['bitcoin', () => walkBlock(made.bytes, made, REGTEST, hasKey)],
    ['tron, nobody', () => walkBlocks(unread(block), [unread(infos)], NO_ONE)],
    ...traces.map(({ text, hash }, i): [string, () => Steps<unknown>] => [
      `traces ${i}`,
      () => walkParityTraces(new Unread(Buffer.from(text)), hash, i % 2 === 0 ? EVERYONE : NO_ONE),
    ]),
  ];
  const shown = (found: unknown): string => textOf(found);
  const alone = walks.map(([, begin]) => shown(atOnce(begin())));
  const open = walks.map(([name, begin], i) => ({ name, i, steps: begin(), turns: 0 }));
  const found: string[] = [];
  const turns: Record<string, number> = {};
  while (open.length > 0)
    for (const one of [...open]) {
      // Nothing that a walk left behind is what it finds again.
      sha256Each(Array.from({ length: 64 }, () => Buffer.alloc(8_000, 0x22)));
      const step = one.steps.next();
      one.turns += 1;
      if (step.done !== true) continue;
      found[one.i] = shown(step.value);
      turns[one.name] = one.turns;
      open.splice(open.indexOf(one), 1);
    }
  expect(found).toEqual(alone);
});

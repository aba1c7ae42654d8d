import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlockMessage } from '#shared/core/chain-events.ts';
import { type Reconciled, reconcile, type StoredBlock, type Tip } from '#shared/core/reconcile.ts';
import './arbitraries.ts';

function aMessage(changes: Partial<BlockMessage>): BlockMessage {
  const from = changes.from ?? 11;
  const to = changes.to ?? from;
  return {
    network: 'local',
    epoch: 3,
    seq: 8,
    from,
    to,
    parentHash: 'h10',
    hash: `h${to}`,
    safeNumber: 9,
    finalNumber: 9,
    headNumber: 20,
    time: 1,
    sightings: [],
    acks: [],
    ...changes,
  };
}

const tip: Tip = { height: 10, hash: 'h10', finalHeight: 7, epoch: 3, seq: 7 };
const stored: StoredBlock[] = [5, 6, 7, 8, 9, 10].map((height) => ({ height, hash: `h${height}` }));

describe('a message', () => {
  test.each<[string, Partial<BlockMessage>, Reconciled]>([
    ['that follows the tip is applied', {}, { action: 'apply', mark: { epoch: 3, seq: 8 } }],
    ['that follows the tip under a newer epoch is applied, whatever its seq', { epoch: 4, seq: 1 }, { action: 'apply', mark: { epoch: 4, seq: 1 } }],
    ['that covers a range after the tip is applied', { to: 15 }, { action: 'apply', mark: { epoch: 3, seq: 8 } }],
    ['of an older epoch is dropped even if it follows the tip', { epoch: 2, seq: 99 }, { action: 'drop', reason: 'older_epoch' }],
    ['whose block is canonical already is a duplicate', { from: 10, parentHash: 'h9', seq: 7 }, { action: 'duplicate', mark: { epoch: 3, seq: 7 } }],
    [
      'whose block is canonical already is a duplicate below final too, and its seq counts',
      { from: 6, parentHash: 'h5', seq: 9 },
      { action: 'duplicate', mark: { epoch: 3, seq: 9 } },
    ],
    [
      'that forks above final orphans what is above its parent',
      { from: 9, parentHash: 'h8', hash: 'x9' },
      { action: 'reorganise', ancestorHeight: 8, mark: { epoch: 3, seq: 8 } },
    ],
    [
      'that forks at the final block itself leaves it alone and is applied',
      { from: 8, parentHash: 'h7', hash: 'x8' },
      { action: 'reorganise', ancestorHeight: 7, mark: { epoch: 3, seq: 8 } },
    ],
    [
      'that forks below final freezes the network',
      { from: 7, parentHash: 'h6', hash: 'x7' },
      { action: 'freeze', reason: 'a branch leaves the chain at block 6, below final block 7' },
    ],
    [
      'whose parent contradicts a final block freezes the network',
      { from: 7, parentHash: 'x6', hash: 'x7' },
      { action: 'freeze', reason: 'block 6 was final with another hash than x6' },
    ],
    ['that forks but was overtaken is dropped, not applied', { from: 9, parentHash: 'h8', hash: 'x9', seq: 7 }, { action: 'drop', reason: 'superseded' }],
    ['that forks below final but was overtaken raises no alarm', { from: 7, parentHash: 'h6', hash: 'x7', seq: 3 }, { action: 'drop', reason: 'superseded' }],
    [
      'with an unknown parent above the tip asks for a rewind',
      { from: 13, parentHash: 'h12' },
      { action: 'rewind', reason: 'the parent of block 13 is not known' },
    ],
    [
      'with an unknown parent at a known height above final asks for a rewind',
      { from: 10, parentHash: 'x9', hash: 'x10' },
      { action: 'rewind', reason: 'the parent of block 10 is not known' },
    ],
    ['that names the tip as parent at another height asks for a rewind', { from: 12 }, { action: 'rewind', reason: 'the parent of block 12 is not known' }],
    ['of acknowledgements at the tip is taken for its acknowledgements', { from: 11, to: 10, hash: 'h10' }, { action: 'acks', mark: { epoch: 3, seq: 8 } }],
    [
      'of acknowledgements elsewhere asks for a rewind',
      { from: 10, to: 9, parentHash: 'h9', hash: 'h9' },
      { action: 'rewind', reason: 'acknowledgements at block 9 do not belong to the tip at 10' },
    ],
    ['of acknowledgements that were overtaken is dropped', { from: 10, to: 9, parentHash: 'h9', hash: 'h9', seq: 5 }, { action: 'drop', reason: 'superseded' }],
    ['delivered again does not move the mark back', { seq: 2 }, { action: 'apply', mark: { epoch: 3, seq: 7 } }],
  ])('%s', (_, changes, expected) => {
    expect(reconcile(tip, stored, aMessage(changes))).toEqual(expected);
  });

  test('opens a network only as the first of its epoch', () => {
    expect(reconcile(null, [], aMessage({ seq: 1 }))).toEqual({ action: 'apply', mark: { epoch: 3, seq: 1 } });
    expect(reconcile(null, [], aMessage({ seq: 2 })).action).toBe('rewind');
    expect(reconcile(null, [], aMessage({ seq: 1, to: 10, hash: 'h10' })).action).toBe('rewind');
  });
});

/** Blocks final below the head by this much; reorganisations stay above. */
const DEPTH = 4;

/** A consumer that keeps what a real one keeps, in memory. */
class Consumer {
  tip: Tip | null = null;
  canonical: StoredBlock[] = [];
  verdicts: Reconciled[] = [];
  applied: string[] = [];

  receive(message: BlockMessage): Reconciled {
    const known = this.canonical.filter((b) => b.height === message.to || b.height === message.from - 1 || b.hash === message.parentHash);
    const verdict = reconcile(this.tip, known, message);
    this.verdicts.push(verdict);
    if (verdict.action === 'reorganise') this.canonical = this.canonical.filter((b) => b.height <= verdict.ancestorHeight);
    if (verdict.action === 'apply' || verdict.action === 'reorganise') {
      this.canonical.push({ height: message.to, hash: message.hash });
      this.applied.push(message.hash);
      this.tip = { height: message.to, hash: message.hash, finalHeight: Math.max(message.finalNumber, this.tip?.finalHeight ?? -1), ...verdict.mark };
    } else if ((verdict.action === 'acks' || verdict.action === 'duplicate') && this.tip !== null) this.tip = { ...this.tip, ...verdict.mark };
    return verdict;
  }
}

/** A node whose chain grows and reorganises, and an indexer that follows it block by block. */
class World {
  chain = ['b0'];
  blocks = 1;
  epoch = 1;
  seq = 0;
  /** The branch as published: hash per height. */
  published: string[] = [];
  finalHeight = -1;

  mine(): void {
    this.chain.push(`b${this.blocks++}`);
    this.finalHeight = Math.max(this.finalHeight, this.chain.length - DEPTH);
  }

  reorganise(depth: number): void {
    const removable = Math.min(depth, this.chain.length - 1 - Math.max(0, this.finalHeight));
    this.chain.splice(this.chain.length - removable, removable);
    for (let i = 0; i <= removable; i += 1) this.mine();
  }

  /** The next message, or undefined when everything is published. */
  next(): BlockMessage | undefined {
    let ancestor = this.published.length - 1;
    while (ancestor >= 0 && this.chain[ancestor] !== this.published[ancestor]) ancestor -= 1;
    const height = ancestor + 1;
    const hash = this.chain[height];
    if (hash === undefined) return undefined;
    this.published = [...this.published.slice(0, height), hash];
    this.seq += 1;
    return aMessage({
      epoch: this.epoch,
      seq: this.seq,
      from: height,
      to: height,
      parentHash: this.published[height - 1] ?? 'none',
      hash,
      finalNumber: this.finalHeight,
      headNumber: this.chain.length - 1,
    });
  }

  /** What the indexer does about a rewind request: a new epoch, from the consumer's tip or the ancestor it still shares. */
  rewind(consumer: Consumer): void {
    this.epoch += 1;
    this.seq = 0;
    const byHeight = new Map(consumer.canonical.map((b) => [b.height, b.hash]));
    this.published = consumer.tip === null ? [] : Array.from({ length: consumer.tip.height + 1 }, (_, height) => byHeight.get(height) ?? '');
  }
}

type Act =
  | { kind: 'mine' }
  | { kind: 'reorganise'; depth: number }
  | { kind: 'publish'; fate: 'deliver' | 'drop' | 'hold' | 'twice' }
  | { kind: 'replay'; which: number }
  | { kind: 'release'; which: number };

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Act>({ kind: 'mine' }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reorganise' as const), depth: fc.integer({ min: 1, max: DEPTH - 1 }) }) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('publish' as const),
        fate: fc.constantFrom('deliver' as const, 'deliver' as const, 'deliver' as const, 'drop' as const, 'hold' as const, 'twice' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('replay' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), which: fc.nat() }) },
  ),
  { minLength: 10, maxLength: 120 },
);

function run(script: readonly Act[]) {
  const world = new World();
  const consumer = new Consumer();
  const sent: BlockMessage[] = [];
  const held: BlockMessage[] = [];
  const receive = (message: BlockMessage) => {
    if (consumer.receive(message).action === 'rewind') world.rewind(consumer);
  };
  for (const act of script) {
    if (act.kind === 'mine') world.mine();
    else if (act.kind === 'reorganise') world.reorganise(act.depth);
    else if (act.kind === 'replay') {
      const old = sent[act.which % Math.max(1, sent.length)];
      if (old !== undefined) receive(old);
    } else if (act.kind === 'release') {
      const late = held.splice(act.which % Math.max(1, held.length), 1)[0];
      if (late !== undefined) receive(late);
    } else {
      const message = world.next();
      if (message === undefined) continue;
      sent.push(message);
      if (act.fate === 'hold') held.push(message);
      if (act.fate === 'deliver' || act.fate === 'twice') receive(message);
      if (act.fate === 'twice') receive(message);
    }
  }
  // The faults end, and the indexer notices that what it sent is not what was applied.
  for (const late of held) receive(late);
  world.rewind(consumer);
  for (let message = world.next(); message !== undefined; message = world.next()) receive(message);
  return { world, consumer };
}

describe('under lost, repeated, late and shuffled messages and reorganisations above final', () => {
  test('the consumer ends on the chain of the node, block for block', () => {
    fc.assert(
      fc.property(acts, (script) => {
        const { world, consumer } = run(script);
        expect(consumer.tip?.hash).toBe(world.chain.at(-1));
        expect([...consumer.canonical].sort((a, b) => a.height - b.height).map((b) => b.hash)).toEqual(world.chain);
      }),
    );
  });

  test('no alarm is raised', () => {
    fc.assert(
      fc.property(acts, (script) => {
        expect(run(script).consumer.verdicts.filter((verdict) => verdict.action === 'freeze')).toEqual([]);
      }),
    );
  });

  test('the mark never moves back', () => {
    fc.assert(
      fc.property(acts, (script) => {
        const marks = run(script).consumer.verdicts.flatMap((verdict) => ('mark' in verdict ? [verdict.mark] : []));
        for (const [i, mark] of marks.entries()) {
          const before = marks[i - 1];
          if (before !== undefined) expect(mark.epoch > before.epoch || (mark.epoch === before.epoch && mark.seq >= before.seq)).toBe(true);
        }
      }),
    );
  });
});

describe('whatever message arrives', () => {
  const forged = fc.record({
    epoch: fc.integer({ min: 0, max: 6 }),
    seq: fc.integer({ min: 1, max: 12 }),
    from: fc.integer({ min: 0, max: 14 }),
    length: fc.integer({ min: 0, max: 3 }),
    parentHash: fc.constantFrom('h4', 'h5', 'h6', 'h7', 'h8', 'h9', 'h10', 'x6', 'x9', 'x10'),
    hash: fc.constantFrom('h6', 'h8', 'h10', 'x8', 'x11'),
  });

  test('a final block is never orphaned, and nothing is applied that does not hang on a canonical block at the right height', () => {
    fc.assert(
      fc.property(forged, ({ length, ...fields }) => {
        const verdict = reconcile(tip, stored, aMessage({ ...fields, to: fields.from + length - 1 }));
        if (verdict.action === 'reorganise') {
          expect(verdict.ancestorHeight).toBeGreaterThanOrEqual(tip.finalHeight);
          expect(stored).toContainEqual({ height: fields.from - 1, hash: fields.parentHash });
          expect(verdict.ancestorHeight).toBe(fields.from - 1);
        }
        if (verdict.action === 'apply' || verdict.action === 'acks') expect([fields.parentHash, fields.from]).toEqual([tip.hash, tip.height + 1]);
        if (fields.epoch < tip.epoch) expect(verdict).toEqual({ action: 'drop', reason: 'older_epoch' });
      }),
    );
  });
});

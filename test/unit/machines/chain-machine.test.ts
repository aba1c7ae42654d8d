import { describe, expect, test } from 'vitest';
import { type Actor, createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate';
import { getAdjacencyMap } from 'xstate/graph';
import {
  BACKOFF_FIRST_MS,
  BACKOFF_LONGEST_MS,
  CHAIN_STATES,
  type ChainEvent,
  type ChainState,
  chain,
  chainState,
  type Joined,
} from '#state-machines/chain/machine.ts';

type Child = 'head' | 'scan' | 'publish' | 'mempool';

/** A machine whose children do nothing but say that they live, and whose joins are answered by hand. */
function start() {
  const clock = new SimulatedClock();
  const living = new Map<Child, number[]>();
  const joins: { kind: 'connect' | 'rewind'; resolve: (joined: Joined) => void; reject: (error: Error) => void }[] = [];
  const tell = new Map<Child, (event: ChainEvent) => void>();
  const failing = new Set<Child>();
  const join = (kind: 'connect' | 'rewind') =>
    fromPromise<Joined, { network: string }>(() => new Promise((resolve, reject) => joins.push({ kind, resolve, reject })));
  const child = (name: Child) =>
    fromCallback<ChainEvent, { network: string; epoch: number }>(({ sendBack, input }) => {
      if (failing.has(name)) throw new Error(`${name} broke`);
      living.set(name, [...(living.get(name) ?? []), input.epoch]);
      tell.set(name, sendBack);
      return () =>
        living.set(
          name,
          (living.get(name) ?? []).filter((epoch) => epoch !== input.epoch),
        );
    });
  const machine = chain.provide({
    actors: {
      connect: join('connect'),
      rewind: join('rewind'),
      head: child('head'),
      scan: child('scan'),
      publish: child('publish'),
      mempool: child('mempool'),
    },
  });
  const actor: Actor<typeof machine> = createActor(machine, { input: { network: 'local' }, clock });
  actor.start();
  return {
    actor,
    clock,
    failing,
    state: (): ChainState => chainState(actor.getSnapshot().value as string | Record<string, unknown>),
    context: () => actor.getSnapshot().context,
    say: (name: Child, event: ChainEvent) => tell.get(name)?.(event),
    alive: () => Object.fromEntries([...living].filter(([, epochs]) => epochs.length > 0)) as Partial<Record<Child, number[]>>,
    async answer(answer: Joined | Error): Promise<string> {
      const asked = joins.shift();
      if (asked === undefined) throw new Error('nobody joins');
      if (answer instanceof Error) asked.reject(answer);
      else asked.resolve(answer);
      await new Promise((resolve) => setImmediate(resolve));
      return asked.kind;
    },
  };
}

async function tailing() {
  const world = start();
  await world.answer({ epoch: 1 });
  world.say('scan', { type: 'CAUGHT_UP' });
  return world;
}

describe('a chain', () => {
  test('connects, backfills, then tails; its children live as long as the epoch, the mempool only while tailing', async () => {
    const world = start();
    expect([world.state(), world.alive()]).toEqual(['connecting', {}]);
    expect(await world.answer({ epoch: 5 })).toBe('connect');
    expect([world.state(), world.context().epoch, world.alive()]).toEqual(['backfilling', 5, { publish: [5], head: [5], scan: [5] }]);
    world.say('scan', { type: 'CAUGHT_UP' });
    expect([world.state(), world.alive()]).toEqual(['tailing', { publish: [5], head: [5], scan: [5], mempool: [5] }]);
    world.say('scan', { type: 'FELL_BEHIND' });
    expect([world.state(), world.alive()]).toEqual(['backfilling', { publish: [5], head: [5], scan: [5] }]);
  });

  test.each(['head', 'scan', 'publish'] as const)('asked by %s to rewind, stops every child and starts new ones under a new epoch', async (name) => {
    const world = await tailing();
    world.say(name, { type: 'REWIND', reason: 'a gap' });
    expect([world.state(), world.alive(), world.context().reason]).toEqual(['rewinding', {}, 'a gap']);
    expect(await world.answer({ epoch: 2 })).toBe('rewind');
    expect([world.state(), world.alive()]).toEqual(['backfilling', { publish: [2], head: [2], scan: [2] }]);
  });

  test('told by a child that it cannot go on, stands still, then joins again from the start', async () => {
    const world = await tailing();
    world.say('scan', { type: 'FAILED', reason: 'two branches in one block' });
    expect([world.state(), world.alive(), world.context()]).toEqual([
      'stalled',
      {},
      { network: 'local', epoch: 1, failures: 1, reason: 'two branches in one block' },
    ]);
    world.clock.increment(BACKOFF_FIRST_MS);
    expect(world.state()).toBe('connecting');
    expect(await world.answer({ epoch: 2 })).toBe('connect');
    expect(world.state()).toBe('backfilling');
  });

  test.each(['publish', 'head', 'scan'] as const)('whose %s breaks while starting stands still too', async (name) => {
    const world = start();
    world.failing.add(name);
    await world.answer({ epoch: 1 });
    expect([world.state(), world.context().reason]).toEqual(['stalled', `${name} broke`]);
  });

  test('whose mempool breaks goes on tailing: it only gave hints', async () => {
    const world = start();
    world.failing.add('mempool');
    await world.answer({ epoch: 1 });
    world.say('scan', { type: 'CAUGHT_UP' });
    expect([world.state(), world.context().failures]).toEqual(['tailing', 0]);
  });

  test('waits twice as long after each failure, never longer than a minute, and says why', async () => {
    const world = start();
    for (let wait = BACKOFF_FIRST_MS; wait < 4 * BACKOFF_LONGEST_MS; wait *= 2) {
      await world.answer(new Error('another indexer holds the lease'));
      expect([world.state(), world.context().reason]).toEqual(['stalled', 'another indexer holds the lease']);
      world.clock.increment(Math.min(wait, BACKOFF_LONGEST_MS) - 1);
      expect(world.state()).toBe('stalled');
      world.clock.increment(1);
      expect(world.state()).toBe('connecting');
    }
  });

  test('forgets its failures once something was published, not merely because it joined', async () => {
    const world = start();
    await world.answer(new Error('down'));
    world.clock.increment(BACKOFF_FIRST_MS);
    await world.answer({ epoch: 2 });
    expect(world.context().failures).toBe(1);
    world.say('publish', { type: 'PUBLISHED' });
    expect([world.context().failures, world.context().reason]).toEqual([0, null]);
  });

  test('whose rewind fails stands still', async () => {
    const world = await tailing();
    world.say('scan', { type: 'REWIND', reason: 'a fork' });
    await world.answer(new Error('the database is away'));
    expect([world.state(), world.context().reason]).toEqual(['stalled', 'the database is away']);
  });

  test.each<[ChainState, (world: ReturnType<typeof start>) => Promise<void> | void]>([
    ['connecting', () => undefined],
    ['backfilling', async (world) => void (await world.answer({ epoch: 1 }))],
    ['stalled', async (world) => void (await world.answer(new Error('down')))],
    [
      'rewinding',
      async (world) => {
        await world.answer({ epoch: 1 });
        world.say('scan', { type: 'REWIND', reason: 'a fork' });
      },
    ],
  ])('stops from %s for good, and no child outlives it', async (state, reach) => {
    const world = start();
    await reach(world);
    expect(world.state()).toBe(state);
    world.actor.send({ type: 'STOP' });
    expect([world.state(), world.alive(), world.actor.getSnapshot().status]).toEqual(['stopped', {}, 'done']);
  });

  test('can reach every state it names, and names every state it can reach', () => {
    const events = [
      ...['CAUGHT_UP', 'FELL_BEHIND', 'PUBLISHED', 'STOP'].map((type) => ({ type })),
      ...['REWIND', 'FAILED'].map((type) => ({ type, reason: 'why' })),
      ...['connect', 'rewind'].flatMap((id) => [
        { type: `xstate.done.actor.${id}`, output: { epoch: 1 } },
        { type: `xstate.error.actor.${id}`, error: new Error('down') },
      ]),
      { type: 'xstate.after.backoff.chain.stalled' },
    ] as unknown as ChainEvent[];
    const reached = getAdjacencyMap(chain, { input: { network: 'local' }, events, serializeState: (snapshot) => JSON.stringify(snapshot.value) });
    const states = Object.values(reached).map(({ state }) => chainState(state.value as string | Record<string, unknown>));
    expect([...new Set(states)].sort()).toEqual([...CHAIN_STATES].sort());
  });

  test('in a state without a name is an error', () => {
    expect(() => chainState('sleeping')).toThrow();
    expect(() => chainState({ following: 'sleeping' })).toThrow();
  });

  test('whose actors nobody supplied fails instead of pretending', async () => {
    const clock = new SimulatedClock();
    const actor = createActor(chain, { input: { network: 'local' }, clock });
    actor.start();
    await new Promise((resolve) => setImmediate(resolve));
    expect(actor.getSnapshot().value).toBe('stalled');
    actor.stop();
  });
});

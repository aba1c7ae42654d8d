import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { requestMissing } from '#api/consumers/chain-events.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { decodeBlockMessage, encodeBlockMessage } from '#shared/core/block-codec.ts';
import type { BlockMessage, Transfer } from '#shared/core/chain-events.ts';
import { formatAmount, fromUnits, parseTrusted } from '#shared/core/money.ts';
import { type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { times } from '#test/harness/counts.ts';

const RUNS = times(200);
const FINAL_BLOCKS = 4;
const PAYMENTS = 3;
const INVOICE = 100_000_000n;

/** A block of the simulated chain; heights start where the fixture's do. */
interface Block {
  height: number;
  hash: string;
  parentHash: string;
  transfers: Transfer[];
}

type Step =
  | { do: 'pay'; payment: number; units: bigint }
  | { do: 'mine' }
  /** A good second: a block is mined, published and applied. */
  | { do: 'live' }
  | { do: 'reorganise'; depth: number; fates: ('again' | 'later' | 'never')[] }
  | { do: 'publish' }
  | { do: 'deliver'; how: 'once' | 'twice' | 'lost' | 'swapped' }
  | { do: 'wipe' }
  | { do: 'credit'; workers: number }
  | { do: 'restart' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({
        do: fc.constant('pay' as const),
        payment: fc.nat(PAYMENTS - 1),
        units: fc.constantFrom(INVOICE, INVOICE / 2n, INVOICE + 10_000n, 5_000n),
      }),
    },
    { weight: 10, arbitrary: fc.constant<Step>({ do: 'live' }) },
    { weight: 3, arbitrary: fc.constant<Step>({ do: 'mine' }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('reorganise' as const),
        depth: fc.integer({ min: 1, max: FINAL_BLOCKS - 1 }),
        fates: fc.array(fc.constantFrom('again' as const, 'later' as const, 'never' as const), { minLength: 1, maxLength: 4 }),
      }),
    },
    { weight: 3, arbitrary: fc.constant<Step>({ do: 'publish' }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('deliver' as const),
        how: fc.constantFrom('once' as const, 'twice' as const, 'lost' as const, 'swapped' as const),
      }),
    },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'wipe' }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('credit' as const), workers: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'restart' }) },
  ),
  { minLength: 40, maxLength: 80 },
);

/** A chain, an indexer and a stream that fail as they do in life, in front of the real consumer and the real books. */
class Simulation {
  readonly books: Books;
  readonly payments: TestPayment[];
  chain: Block[] = [];
  mempool: Transfer[] = [];
  stream: string[] = [];
  epoch = 0;
  seq = 0;
  /** What the indexer published last; undefined before its first block. */
  cursor: Block | undefined;

  constructor(books: Books, payments: TestPayment[]) {
    this.books = books;
    this.payments = payments;
  }

  mine(): void {
    const parent = this.chain.at(-1);
    const [height, hash] = [(parent?.height ?? 99) + 1, hash32()];
    const transfers = this.mempool.map((transfer, position) => ({ ...transfer, height, blockHash: hash, position, time: Math.floor(Date.now() / 1_000) }));
    this.chain.push({ height, hash, parentHash: parent?.hash ?? hash32(), transfers });
    this.mempool = [];
  }

  async live(): Promise<void> {
    this.mine();
    await this.publish();
    while (this.stream.length > 0) await this.deliver('once');
  }

  reorganise(depth: number, fates: readonly string[]): void {
    if (this.chain.length <= depth + FINAL_BLOCKS) return;
    const gone = this.chain.splice(-depth).flatMap((block) => block.transfers);
    const later: Transfer[] = [];
    gone.forEach((transfer, index) => {
      const fate = fates[index % fates.length];
      if (fate === 'again') this.mempool.push(transfer);
      else if (fate === 'later') later.push(transfer);
    });
    // A branch replaces another by being longer.
    for (let mined = 0; mined <= depth; mined++) this.mine();
    this.mempool.push(...later);
  }

  /** Starts the indexer again from the consumer's tip, under a new epoch. */
  async restart(): Promise<void> {
    this.epoch += 1;
    this.seq = 0;
    const stored = await this.books.db.sql<
      { hash: string }[]
    >`select hash from chain_blocks where network_id = ${this.books.network.id} and canonical order by height desc`;
    this.cursor = stored.map(({ hash }) => this.chain.find((block) => block.hash === hash)).find((block) => block !== undefined);
    await this.books.db.sql`
      insert into indexer_leases (network_id, holder, epoch, expires_at) values (${this.books.network.id}, 'indexer', ${this.epoch}, now())
      on conflict (network_id) do update set epoch = excluded.epoch, published_height = null`;
  }

  async publish(): Promise<void> {
    const [asked] = await this.books.db.sql`select 1 from rewind_requests where network_id = ${this.books.network.id} and epoch >= ${this.epoch}`;
    if (this.epoch === 0 || asked !== undefined) await this.restart();
    while (this.cursor !== undefined && !this.chain.includes(this.cursor)) this.cursor = this.known.get(this.cursor.parentHash);
    const from = this.cursor === undefined ? 0 : this.chain.indexOf(this.cursor) + 1;
    for (const block of this.chain.slice(from)) {
      this.known.set(block.hash, block);
      this.seq += 1;
      this.stream.push(encodeBlockMessage(this.message(block)));
      this.cursor = block;
      await this.books.db.sql`update indexer_leases set published_height = ${block.height} where network_id = ${this.books.network.id}`;
    }
  }

  private readonly known = new Map<string, Block>();

  private message(block: Block): BlockMessage {
    const headNumber = this.chain.at(-1)?.height ?? block.height;
    return {
      network: this.books.network.name,
      epoch: this.epoch,
      seq: this.seq,
      from: block.height,
      to: block.height,
      parentHash: block.parentHash,
      hash: block.hash,
      safeNumber: block.height - FINAL_BLOCKS + 1,
      finalNumber: block.height - FINAL_BLOCKS + 1,
      headNumber,
      time: Math.floor(Date.now() / 1_000),
      sightings: block.transfers,
      acks: [],
    };
  }

  async deliver(how: 'once' | 'twice' | 'lost' | 'swapped'): Promise<void> {
    if (how === 'swapped' && this.stream.length > 1) this.stream.unshift(...this.stream.splice(1, 1));
    const text = this.stream.shift();
    if (text === undefined || how === 'lost') return;
    const decoded = decodeBlockMessage(text);
    if (!decoded.ok) throw new Error(decoded.problem);
    for (let time = 0; time < (how === 'twice' ? 2 : 1); time++) expect((await this.books.chain.apply(decoded.message)).outcome).not.toBe('frozen');
  }

  async credit(workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, () => creditFinalDeposits(this.books.deps, this.books.network.id)));
    await matureCredits(this.books.deps);
  }

  async run(step: Step): Promise<void> {
    switch (step.do) {
      case 'pay':
        this.mempool.push(this.books.chain.transfer((this.payments[step.payment] as TestPayment).address, this.books.assets.USDT, step.units));
        return;
      case 'mine':
        return this.mine();
      case 'live':
        return this.live();
      case 'reorganise':
        return this.reorganise(step.depth, step.fates);
      case 'publish':
        return this.publish();
      case 'deliver':
        return this.deliver(step.how);
      case 'wipe':
        this.stream = [];
        return;
      case 'credit':
        return this.credit(step.workers);
      case 'restart':
        return this.restart();
    }
  }

  /** Lets everything come to rest: what is lost is asked for, what was mined becomes final, what is final is booked. */
  async settle(): Promise<void> {
    for (let mined = 0; mined <= FINAL_BLOCKS; mined++) this.mine();
    const head = this.chain.at(-1) as Block;
    for (let round = 0; round < 10; round++) {
      await this.publish();
      while (this.stream.length > 0) await this.deliver('once');
      await requestMissing(this.books.deps, this.books.network);
      const [tip] = await this.books.db.sql`select hash from chain_tips where network_id = ${this.books.network.id}`;
      if (tip?.hash === head.hash) break;
      // A stream that lost the very last message looks complete until the indexer says it published more.
      if (round === 5) await this.restart();
    }
    const [tip] = await this.books.db.sql`select hash from chain_tips where network_id = ${this.books.network.id}`;
    expect(tip?.hash, 'the consumer reaches the head').toBe(head.hash);
    await this.credit(2);
  }

  /** What the books must say, worked out from nothing but the chain. */
  expected(): { holdings: string; statuses: string[]; deposits: string[] } {
    const canonical = this.chain.flatMap((block) => block.transfers);
    const statuses = this.payments.map((payment) => {
      const deciding = this.chain
        .map((block) => block.transfers.filter((t) => t.recipient === payment.address && BigInt(t.rawAmount) >= 10_000n))
        .find((transfers) => transfers.length > 0);
      if (deciding === undefined) return 'PENDING';
      return deciding.reduce((sum, transfer) => sum + BigInt(transfer.rawAmount), 0n) / 10_000n === INVOICE / 10_000n ? 'SUCCESS' : 'MISMATCH';
    });
    const sum = canonical.reduce((total, transfer) => total + BigInt(transfer.rawAmount), 0n);
    return { holdings: formatAmount(-fromUnits(sum, 6)), statuses, deposits: canonical.map((transfer) => transfer.txid).sort() };
  }

  async actual(): Promise<{ holdings: string; statuses: string[]; deposits: string[] }> {
    const { sql } = this.books.db;
    const [chain] = await sql`select balance::text from ledger_accounts where kind = 'chain' and asset_id = ${this.books.assets.USDT.id}`;
    const statuses = await Promise.all(this.payments.map(async ({ id }) => (await sql`select status from payments where id = ${id}`)[0]?.status as string));
    const deposits = await sql<{ txid: string }[]>`select txid from deposits where state in ('credited', 'dust')`;
    return { holdings: formatAmount(parseTrusted(chain?.balance ?? '0')), statuses, deposits: deposits.map((row) => row.txid).sort() };
  }
}

const hash32 = (): string => `0x${randomBytes(32).toString('hex')}`;

it(`books exactly what the final chain holds, whatever reorganises, repeats, swaps or gets lost on the way (${RUNS} random histories)`, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const books = await someBooks({ finality: { resolve: [{ rule: { blocks: FINAL_BLOCKS } }], mature: { blocks: FINAL_BLOCKS } } });
      try {
        const simulation = new Simulation(books, await Promise.all(Array.from({ length: PAYMENTS }, () => books.aPayment())));
        for (let warm = 0; warm < FINAL_BLOCKS * 2; warm++) await simulation.live();
        for (const step of history) {
          await simulation.run(step);
          if (step.do === 'credit') await assertCleanAudit(books.db);
        }
        await simulation.settle();
        expect(await simulation.actual()).toEqual(simulation.expected());
        await assertCleanAudit(books.db);
      } finally {
        await books.drop();
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
}, 1_200_000);

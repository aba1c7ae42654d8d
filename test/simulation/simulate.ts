import { die, mend, mine, recover, reorganise, trouble, wait } from './accidents.ts';
import { ask, askAgain, cashOut } from './cashouts.ts';
import { approve, cancel, reject, resolve, retry, topUp } from './decisions.ts';
import type { Deed } from './deed.ts';
import type { Model } from './model.ts';
import { Died } from './mortal.ts';
import { checkDestinations, checkEverything } from './oracle.ts';
import { open, pay } from './payments.ts';
import { randomFrom } from './random.ts';
import { openShops } from './shops.ts';
import { aTown } from './town.ts';

const DEEDS: readonly Deed[] = [open, pay, cashOut, askAgain, approve, retry, cancel, reject, topUp, resolve, mine, wait, reorganise, trouble, recover, die];

/** Every so many steps the audit runs as well, and every destination is looked at instead of the newest ones. */
const AUDIT_STEPS = 20;
const NEWEST = 25;
/** Turns after the last step in which everything that can still happen must have happened. */
const CLOSING_TURNS = 60;
const TOLD = 25;

export interface Simulation {
  seed: number;
  steps: number;
  /** Told of each step as it is taken. */
  tell?(line: string): void;
}

/** What came of one. */
export interface Simulated extends Omit<Simulation, 'tell'> {
  /** How often each deed was done. */
  deeds: Record<string, number>;
  deaths: number;
  payments: number;
  /** Cashouts by status at the end, or by the refusal. */
  cashouts: Record<string, number>;
}

/**
 * Lets chance run a whole deployment for so many steps, with faults on, and holds it against the chains: after each step no
 * destination has more than was asked for; at the end every payment, cashout and balance is what the chains say.
 * The same seed makes the same choices. @throws with the command that repeats it and the last steps
 */
export async function simulate({ seed, steps, tell = () => undefined }: Simulation): Promise<Simulated> {
  const random = randomFrom(seed);
  const town = await aTown(random);
  const trace: string[] = [];
  const note = (line: string): void => {
    trace.push(line);
    tell(line);
  };
  const model: Model = { random, town, shops: await openShops(town), paid: [], cashouts: [], refunds: [], strangers: 0 };
  const result: Simulated = { seed, steps, deeds: {}, deaths: 0, payments: 0, cashouts: {} };
  /** Whatever is begun here may end with the process. */
  const survive = async (work: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await work();
    } catch (error) {
      if (!isDeath(error) && town.process().diedAt() === null) throw error;
      return undefined;
    } finally {
      const moment = await town.reviveIfDead();
      if (moment !== null) {
        result.deaths += 1;
        note(`  died at ${moment}`);
      }
    }
  };
  let step = 0;
  try {
    for (step = 1; step <= steps; step++) {
      const deed = random.weighted(DEEDS.filter((one) => one.possible(model)));
      const said = await survive(() => deed.run(model));
      result.deeds[deed.name] = (result.deeds[deed.name] ?? 0) + 1;
      note(`${step} ${deed.name}: ${said === undefined ? 'never answered' : String(said)}`);
      if (random.chance(0.7)) await survive(() => town.beat());
      const thorough = step % AUDIT_STEPS === 0;
      await (thorough ? checkDestinations(model) : checkDestinations(model, NEWEST));
      if (thorough) await town.audit();
    }
    await closeDown(model, survive);
    await checkEverything(model);
    result.payments = model.paid.length;
    result.cashouts = await statusesOf(model);
    return result;
  } catch (error) {
    const repeat = `npm run simulate -- --seed ${seed} --steps ${steps}`;
    throw new Error(`step ${step} of ${repeat}: ${(error as Error).message}\n${trace.slice(-TOLD).join('\n')}`, { cause: error });
  } finally {
    await town.stop();
  }
}

function isDeath(error: unknown): boolean {
  return error instanceof Died || (error instanceof Error && error.cause instanceof Died);
}

/** Ends all trouble and lets everything that is on its way arrive. */
async function closeDown(model: Model, survive: (work: () => Promise<unknown>) => Promise<unknown>): Promise<void> {
  const { town } = model;
  for (const street of town.streets) mend(street);
  for (let turn = 0; turn < CLOSING_TURNS; turn++) {
    for (const cashout of model.cashouts) if (!cashout.answered) await survive(() => ask(model, cashout));
    await town.advance(20);
    for (const street of town.streets) await town.mine(street, 1);
    await survive(() => town.beat());
    if (turn > 4 && (await countOpen(model)) === 0) break;
  }
  const left = await model.town.world.database.sql`
    select s.id, s.status, s.wait_reason, n.name as network from settlements s join networks n on n.id = s.network_id where s.status in ('REQUESTED', 'PROCESSING')`;
  if (left.length > 0) throw new Error(`cashouts that nothing ends: ${JSON.stringify(left)}`);
  for (const street of town.streets) await town.mine(street, 4);
  await town.beat();
  await town.beat();
}

async function countOpen({ town, cashouts }: Model): Promise<number> {
  const [row] = await town.world.database.sql<{ count: number }[]>`
    select ((select count(*) from payouts where status not in ('CONFIRMED', 'FAILED', 'CANCELLED'))
      + (select count(*) from aml_refunds where status = 'ordered')
      + (select count(*) from settlements where status in ('REQUESTED', 'PROCESSING')))::int as count`;
  return (row?.count ?? 0) + cashouts.filter((one) => !one.answered).length;
}

async function statusesOf({ town }: Model): Promise<Record<string, number>> {
  const rows = await town.world.database.sql<
    { status: string; count: number }[]
  >`select status, count(*)::int as count from settlements group by status order by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

import type { Deed } from './deed.ts';
import type { Model } from './model.ts';
import { MOMENTS } from './mortal.ts';
import { NOT_FINAL, type Street } from './street.ts';

const DAY = 86_400;

/** Blocks are mined; what is pending gets into the first. */
export const mine: Deed = {
  name: 'mine',
  weight: 14,
  possible: () => true,
  async run({ random, town }) {
    const street = random.pick(town.streets);
    const blocks = 1 + random.below(4);
    await town.mine(street, blocks);
    return `${blocks} on ${street.name}`;
  },
};

/** Time passes: seconds mostly, minutes sometimes, and rarely so long that what is parked expires. */
export const wait: Deed = {
  name: 'wait',
  weight: 12,
  possible: () => true,
  async run(model) {
    const { random, town } = model;
    const seconds = random.chance(0.08) ? 7 * DAY + random.below(DAY) : random.chance(0.2) ? 60 + random.below(1_800) : 5 + random.below(60);
    await town.advance(seconds);
    // Nobody pays an address after its payment's grace: that is another story than this oracle tells.
    if (seconds > 1_800) for (const paid of model.paid) paid.closed = true;
    return `${seconds} s`;
  },
};

/** The newest blocks of a chain are replaced: some payments are mined again, all else in them is gone. */
export const reorganise: Deed = {
  name: 'reorganise',
  weight: 6,
  possible: () => true,
  async run(model) {
    const { random, town } = model;
    const street = random.pick(town.streets);
    const depth = 1 + random.below(NOT_FINAL);
    const again = random.chance(0.5) ? lastSent(model, street).map((txid) => ({ txid, block: depth - 1 })) : [];
    await street.node.reorganise(depth, { again: again.slice(-1), replaced: [] }).catch(() => undefined);
    await town.mine(street, 1);
    return `${depth} on ${street.name}, ${again.slice(-1).length} mined again`;
  },
};

function lastSent(model: Model, street: Street): string[] {
  return model.paid.filter((paid) => paid.street === street).flatMap((paid) => paid.sent.map(({ txid }) => txid));
}

/** A node goes wrong: unreachable, silent about one kind of question, behind, or taking bytes without saying so. */
export const trouble: Deed = {
  name: 'trouble',
  weight: 6,
  possible: ({ town }) => town.streets.some((street) => street.trouble === null),
  async run({ random, town }) {
    const street = random.pick(town.streets.filter((one) => one.trouble === null));
    const { node, driver } = street;
    const kind = random.pick(['down', 'mute', 'lagging', 'withholding'] as const);
    if (kind === 'down') node.meddle(cut);
    else if (kind === 'mute') node.meddle((exchange) => (/sendRawTransaction|broadcast/i.test(exchange.call) ? cut() : exchange.answer));
    else if (kind === 'lagging') node.meddle(await driver.lag(node, 1));
    else node.meddle(random.pick(driver.faults).meddling);
    street.trouble = kind;
    return `${street.name} is ${kind}`;
  },
};

/** The connection ends without an answer. */
function cut(): never {
  throw new Error('cut');
}

/** A node is well again. */
export const recover: Deed = {
  name: 'recover',
  weight: 14,
  possible: ({ town }) => town.streets.some((street) => street.trouble !== null),
  async run({ random, town }) {
    const street = random.pick(town.streets.filter((one) => one.trouble !== null));
    mend(street);
    return street.name;
  },
};

/** Ends whatever is wrong with a street's node. */
export function mend(street: Street): void {
  street.node.meddle(null);
  street.trouble = null;
}

/** The process is going to die at some moment soon. */
export const die: Deed = {
  name: 'die',
  weight: 8,
  possible: () => true,
  async run({ random, town }) {
    const moment = random.pick(MOMENTS);
    const passing = moment.startsWith('commit') ? 1 + random.below(12) : 1;
    town.dieAt(moment, passing);
    return `at passing ${passing} of ${moment}`;
  },
};

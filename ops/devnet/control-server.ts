import type { CommonControl, Exchange } from './control-api.ts';
import type { Faults } from './faults.ts';

/** One function for every verb of a node's control. */
export type Verbs<Api extends { [Verb in keyof Api]: Exchange }> = { [Verb in keyof Api]: (ask: Api[Verb]['takes']) => Api[Verb]['gives'] };

/** Answers control requests below `/dev/`: JSON in, JSON out. */
export type ControlHandler = (verb: string, body: string) => string;

/** A block every so many seconds, fractions allowed, until it is stopped. */
export interface MiningTimer {
  start(seconds: number): void;
  stop(): void;
  /** Whether somebody said that no more blocks shall come by themselves, from this timer or from whoever else mines on the node by the clock. */
  stopped(): boolean;
}

/** Mines nothing until it is started. */
export function miningTimer(mine: () => void): MiningTimer {
  let running: NodeJS.Timeout | undefined;
  let stopped = false;
  return {
    start: (seconds) => {
      clearInterval(running);
      stopped = false;
      running = setInterval(mine, seconds * 1000);
    },
    stop: () => {
      clearInterval(running);
      stopped = true;
    },
    stopped: () => stopped,
  };
}

/** What a test or a developer may do to every node beside its own API. */
export function commonVerbs<Kind extends string>(faults: Faults<Kind>, timer: MiningTimer): Verbs<CommonControl<Kind>> {
  return {
    setInterval: ({ seconds }) => {
      timer.start(seconds);
      return {};
    },
    stopMining: () => {
      timer.stop();
      return {};
    },
    failNext: ({ times = 1, ...fault }) => {
      faults.planned.push({ ...fault, times });
      return {};
    },
    setLatency: ({ milliseconds }) => {
      faults.latencyMs = milliseconds;
      return {};
    },
    dropConnections: ({ count }) => {
      faults.drops = count;
      return {};
    },
  };
}

/** Runs the verb that a request names. @throws Error with words for whoever asked when there is none of that name */
export function controlHandler<Api extends { [Verb in keyof Api]: Exchange }>(verbs: Verbs<Api>): ControlHandler {
  return (verb, body) => {
    if (!Object.hasOwn(verbs, verb)) throw new Error(`no control is called ${verb}; there are ${Object.keys(verbs).join(', ')}`);
    const run = verbs[verb as keyof Api] as (ask: unknown) => unknown;
    return JSON.stringify(run(body.trim() === '' ? {} : JSON.parse(body)));
  };
}

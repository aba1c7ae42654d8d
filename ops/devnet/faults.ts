/** A fault waiting for its request; `answer` is the text of the kinds that have one. */
export interface Fault<Kind extends string> {
  kind: Kind;
  answer?: string;
}

/** A fault and the requests it is for: a method or a path, or `*` for all of them. */
export type Planned<Kind extends string> = Fault<Kind> & { on: string };

export interface Faults<Kind extends string> {
  latencyMs: number;
  /** Requests still to be cut off. */
  drops: number;
  planned: (Planned<Kind> & { times: number })[];
}

export function noFaults(): Faults<never> {
  return { latencyMs: 0, drops: 0, planned: [] };
}

/** What goes wrong with a request for any of these, using up one of its times. */
export function nextFault<Kind extends string>(faults: Faults<Kind>, asked: readonly string[]): Planned<Kind | 'drop'> | null {
  if (faults.drops > 0) {
    faults.drops -= 1;
    return { kind: 'drop', on: '*' };
  }
  const planned = faults.planned.find((each) => each.times > 0 && (each.on === '*' || asked.includes(each.on)));
  if (planned === undefined) return null;
  planned.times -= 1;
  return planned;
}

/** How a request may go wrong, as real nodes and gateways do. */
export type FaultKind =
  /** HTTP status without a usable body. */
  | 'status-429'
  | 'status-500'
  | 'status-503'
  /** HTTP 200 with `{"Error": …}`: a rate-limited node. */
  | 'error'
  /** HTTP 200 with `{}` or `[]`. */
  | 'empty-object'
  | 'empty-array'
  /** The connection ends without an answer. */
  | 'drop'
  /** The same, but the request was carried out: a broadcast whose answer is lost. */
  | 'drop-after'
  /** No answer until the client gives up. */
  | 'hang'
  /** HTTP 200 with a page of HTML, or with half of the real answer. */
  | 'html'
  | 'truncated'
  /** HTTP 200 with a given body instead of the real one. */
  | 'answer';

/** A fault waiting for its request; `answer` is the body of the kind of that name. */
export interface Fault {
  kind: FaultKind;
  answer?: string;
}

export interface Faults {
  latencyMs: number;
  /** Requests still to be cut off. */
  drops: number;
  planned: (Fault & { path: string; times: number })[];
}

export function noFaults(): Faults {
  return { latencyMs: 0, drops: 0, planned: [] };
}

/** What goes wrong with this request, using up one of its times; `*` stands for every path. */
export function nextFault(faults: Faults, path: string): Fault | null {
  if (faults.drops > 0) {
    faults.drops -= 1;
    return { kind: 'drop' };
  }
  const planned = faults.planned.find((each) => each.times > 0 && (each.path === '*' || each.path === path));
  if (!planned) return null;
  planned.times -= 1;
  return planned;
}

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

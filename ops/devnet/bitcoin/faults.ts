/** How a request may go wrong, as real nodes and what stands before them do. */
export type FaultKind =
  /** HTTP status without a usable body. */
  | 'status-401'
  | 'status-429'
  | 'status-503'
  /** HTTP 503 `Work queue depth exceeded`: more requests than the node takes. */
  | 'busy'
  /** Error -28: the node is starting. */
  | 'warmup'
  /** The connection ends without an answer. */
  | 'drop'
  /** The same, but the request was carried out: a broadcast whose answer is lost. */
  | 'drop-after'
  /** No answer until the client gives up. */
  | 'hang'
  /** HTTP 200 with a page of HTML, or with half of the real answer. */
  | 'html'
  | 'truncated'
  /** The result `null`, or a given one (JSON text) instead of the real one. */
  | 'null'
  | 'answer'
  /** An error object of the given JSON text. */
  | 'error';

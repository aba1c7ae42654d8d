/** One market's word on one symbol. */
export interface Quote {
  /** Ticker, or `fiat:<CODE>` for a currency. */
  symbol: string;
  /** Units of `in` for one unit of the symbol, 18-place fixed point. */
  price: bigint;
  /** What it is quoted in: `USD`, or the ticker of the coin whose own dollar price must be multiplied in. */
  in: string;
  /** When the source says it was made; absent where it does not say. */
  at?: Date;
}

/** A public source of prices. */
export interface PriceProvider {
  name: string;
  /**
   * Asks for those of `symbols` that the source knows; one it does not know is missing from the answer, never an error.
   * @throws PriceSourceError when the source gives no usable answer at all
   */
  quotes(symbols: readonly string[], signal: AbortSignal): Promise<Quote[]>;
}

/** How a source is registered: what it is, where it is, and how long its word holds. */
export interface PriceSourceKind {
  name: string;
  baseUrl: string;
  covers: readonly ('crypto' | 'fiat')[];
  /**
   * A live market is asked every SLUICE_PRICE_POLL_SECONDS and its quote is forgotten after two rounds. A reference rate is
   * published once a day: it is asked hourly and holds until the next one.
   */
  rhythm: 'live' | 'reference';
  /** A quote that the source itself dates further back than this many seconds is stale; SLUICE_PRICE_FRESH_SECONDS when absent. */
  staleSeconds?: number;
  open(baseUrl: string): PriceProvider;
}

export type PriceSourceProblem = 'timeout' | 'network' | 'status' | 'too_large' | 'malformed';

/** A source that could not be used this time; what of its answer is quoted in the message has lost its control characters. */
export class PriceSourceError extends Error {
  readonly problem: PriceSourceProblem;
  /** HTTP status, when there was one. */
  readonly status: number | undefined;
  /** Seconds the source asked us to stay away. */
  readonly retryAfterSeconds: number | undefined;
  constructor(problem: PriceSourceProblem, message: string, details: { status?: number; retryAfterSeconds?: number | undefined } = {}) {
    // Postgres stores no NUL, and operators read this in a terminal.
    super(message.replace(/\p{Cc}/gu, '\ufffd'));
    this.name = 'PriceSourceError';
    this.problem = problem;
    this.status = details.status;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

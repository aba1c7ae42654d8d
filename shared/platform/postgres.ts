import postgres from 'postgres';

/** Pooled connections, for single statements; tagged templates only, so that a value is never spliced into SQL. */
export type Sql = postgres.Sql<{ bigint: number }>;
/** The same inside one transaction. Store functions take this, so that what they lock is visible in their signature. */
export type Tx = postgres.TransactionSql<{ bigint: number }>;
/** Either; for reads that may run inside or outside a transaction. */
export type Reads = postgres.ISql<{ bigint: number }>;

export interface Database {
  sql: Sql;
  /**
   * Runs `work` in one READ COMMITTED transaction and retries it, at most 5 times, when Postgres says it lost a
   * deadlock or a serialisation race. `work` must therefore do nothing but SQL.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  end(): Promise<void>;
}

const RETRIABLE = new Set(['40001', '40P01']);
const ATTEMPTS = 5;

/**
 * Opens two pools: one for single statements, and one of `max` connections for transactions alone. The driver queues
 * statements on connections that are busy, and does not keep a connection whose queue a BEGIN fills up: the transaction
 * fails, and whatever else runs there next is answered and never committed (porsager/postgres #1189). Without single
 * statements beside it a BEGIN always finds an idle connection.
 * int8 columns arrive as safe integers (heights, counters); numeric columns as exact decimal text.
 */
export function connect(url: string, options: { name: string; max?: number }): Database {
  const max = options.max ?? 10;
  const sql = openPool(url, options.name, Math.ceil(max / 2));
  const transactions = openPool(url, options.name, max);
  return {
    sql,
    transaction: (work) => retry(() => transactions.begin((tx) => work(tx as unknown as Tx)) as Promise<never>),
    end: async () => {
      await Promise.all([sql.end({ timeout: 5 }), transactions.end({ timeout: 5 })]);
    },
  };
}

function openPool(url: string, name: string, max: number): Sql {
  return postgres(url, {
    max,
    connection: { application_name: name },
    onnotice: () => undefined,
    // Seconds between connection attempts; the driver's own pauses of up to 20 s would outlive a request and an outage.
    backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, 1),
    connect_timeout: 5,
    types: {
      bigint: {
        to: 20,
        from: [20],
        serialize: (value: number) => String(value),
        parse: (text: string) => {
          const value = Number(text);
          if (!Number.isSafeInteger(value)) throw new RangeError(`int8 outside the safe range: ${text}`);
          return value;
        },
      },
    },
  }) as Sql;
}

async function retry<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= ATTEMPTS || !RETRIABLE.has(String((error as { code?: unknown }).code))) throw error;
    }
  }
}

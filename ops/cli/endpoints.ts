/** An RPC endpoint as GET /networks tells it; `provider` is a host, because the rest of a URL may be a key. */
export interface Endpoint {
  provider: string;
  state: string;
  height: number | null;
  latencyMs: number | null;
  failures: number;
  lastTrouble: string | null;
  foreign: string | null;
}

/** One endpoint in one line. */
export function describeEndpoint({ provider, state, height, latencyMs, failures, lastTrouble, foreign }: Endpoint): string {
  const facts = [
    height === null ? null : `block ${height}`,
    latencyMs === null ? null : `${Math.round(latencyMs)} ms`,
    failures === 0 ? null : `${failures} failures in a row (${lastTrouble})`,
    foreign,
  ].filter((fact) => fact !== null);
  return [provider, state, ...facts].join(', ');
}

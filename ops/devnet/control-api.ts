/** What one control verb takes and gives. */
export interface Exchange {
  takes: unknown;
  gives: unknown;
}

/** What control does to every local node, whatever its chain; server and client share the contract. */
export interface CommonControl<Kind extends string> {
  setInterval: { takes: { seconds: number }; gives: Nothing };
  stopMining: { takes: Nothing; gives: Nothing };
  failNext: { takes: { on: string; kind: Kind; times?: number; answer?: string }; gives: Nothing };
  setLatency: { takes: { milliseconds: number }; gives: Nothing };
  dropConnections: { takes: { count: number }; gives: Nothing };
}

export type Nothing = Record<string, never>;

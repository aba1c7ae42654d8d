/** Thrown when a transaction or block breaks a rule: `reason` as Bitcoin Core names it, `detail` what it adds. */
export class Rejected extends Error {
  readonly reason: string;
  readonly detail: string;

  constructor(reason: string, detail = '') {
    super(detail === '' ? reason : `${reason}, ${detail}`);
    this.name = 'Rejected';
    this.reason = reason;
    this.detail = detail;
  }
}

/** Thrown by a method of the JSON-RPC; becomes its error object. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
  }
}

/** Codes of bitcoind's errors (rpc/protocol.h). */
export const RPC = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  parse: -32700,
  misc: -1,
  type: -3,
  wallet: -4,
  addressOrKey: -5,
  insufficientFunds: -6,
  invalidParameter: -8,
  walletNotFound: -18,
  walletNotSpecified: -19,
  database: -20,
  deserialization: -22,
  verify: -25,
  verifyRejected: -26,
  alreadyInChain: -27,
  inWarmup: -28,
  walletAlreadyLoaded: -35,
} as const;

/** Codes a node answers a broadcast with (api.proto `Return.response_code`); BANDWITH is spelled as the node spells it. */
export type RefusalCode =
  | 'SIGERROR'
  | 'CONTRACT_VALIDATE_ERROR'
  | 'CONTRACT_EXE_ERROR'
  | 'BANDWITH_ERROR'
  | 'DUP_TRANSACTION_ERROR'
  | 'TAPOS_ERROR'
  | 'TOO_BIG_TRANSACTION_ERROR'
  | 'TRANSACTION_EXPIRATION_ERROR'
  | 'SERVER_BUSY'
  | 'OTHER_ERROR';

/** Thrown when a transaction cannot be in any block of this chain now. */
export class Refused extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = 'Refused';
    this.code = code;
  }
}

export function invalid(message: string): Refused {
  return new Refused('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${message}`);
}

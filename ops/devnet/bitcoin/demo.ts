/** What every local Bitcoin node starts with unless told otherwise: who may call it, and the wallet that has coins. */
export const BITCOIN_CREDENTIALS = 'sluice:sluice';

export const FAUCET_WALLET = 'faucet';

/** Blocks a new chain begins with: the rewards of the first ones may be spent. */
export const FIRST_BLOCKS = 120;

/** What the node says of itself wherever a real one warns. */
export const WARNING = 'This is a local development node: its coins are worth nothing';

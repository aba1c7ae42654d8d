// Where everything is. What the compiler places itself lies below; kernel.ts holds the same numbers.

/** The longest reply that is walked over: this much takes some milliseconds, in one go (decision 0030). */
export const LARGEST: usize = 4 * 1024 * 1024;
/** Zeros after a reply: longer than anything that is skipped without a look at it, and no part of any JSON. */
export const ZEROS: usize = 1024;
/** Receipts or transactions of one block. */
export const MOST: usize = 0x4000;

export const REPLY: usize = 0x1_0000;
/** The ids of the block's transactions, as they stand in a list in JSON. */
export const TXIDS: usize = REPLY + LARGEST + ZEROS;
export const TXID_TEXT: usize = 68;
/** The hash of the block as it stands in JSON, and its height likewise. */
export const BLOCK_HASH: usize = TXIDS + MOST * (TXID_TEXT + 1);
export const HEIGHT: usize = BLOCK_HASH + 128;
/** Where a hash is put, or what is to be looked up. */
export const WORD: usize = HEIGHT + 128;
/** Numbers of 32 bits about each receipt or transaction. */
export const FOUND: usize = WORD + 256;
export const FOUND_BYTES: usize = 64;
/** Values of a trie, each in one piece, with LEAF_ROOM bytes of nobody's before it. What is written of a reply is shorter than what is told. */
export const VALUES: usize = FOUND + MOST * FOUND_BYTES;
export const VALUES_END: usize = VALUES + LARGEST + ZEROS;
/** Where each value begins and ends. */
export const STARTS: usize = VALUES_END;
export const ENDS: usize = STARTS + MOST * 4;
export const NODES: usize = ENDS + MOST * 4;
/** What is found of a frame of a trace, and the steps of its place among the calls. */
export const FRAME: usize = NODES + 8192;
export const STEPS: usize = FRAME + 64;

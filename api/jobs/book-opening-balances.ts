import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import type { Sweep } from './registry.ts';

/** Puts what the wallets held before they were watched into the books. */
export const bookOpeningBalancesSweep: Sweep = { name: 'book-opening-balances', everySeconds: 5, run: bookOpeningBalances };

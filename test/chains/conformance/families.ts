import { bitcoin } from './bitcoin.ts';
import { evm } from './evm.ts';
import { tron } from './tron.ts';
import type { FamilyDriver } from './family.ts';

/** Every family the suite can test; one that the build serves and that is not here fails it. */
export const DRIVERS: readonly FamilyDriver[] = [evm, tron, bitcoin];

import type { Gate } from '../settlement.ts';
import { approvalCap } from './approval-cap.ts';
import { minimum } from './minimum.ts';
import { networkFee } from './network-fee.ts';
import { parkedCap } from './parked-cap.ts';
import { policies } from './policies.ts';
import { pool } from './pool.ts';
import { route } from './route.ts';

/** Every gate, in the order in which a settlement meets them (decisions 10). Its shape is checked before the first. */
export const GATES: readonly Gate[] = [minimum, networkFee, policies, route, pool, parkedCap, approvalCap];

import { ChainUnavailable, type RangeContent } from '#shared/chains/chain.ts';
import { askingSize } from '#shared/chains/too-much.ts';
import type { IndexerDeps, Life } from './life.ts';
import { doLogsSuffice, readTokenContracts } from './truth.ts';

const FIRST_RANGE = 500;
const LONGEST_RANGE = 5_000;
/** In ranges that are shorter, complete reading is as fast: a provider that answers only such ones is no shortcut. */
const SHORTEST_RANGE = 100;
/** What is less far behind is read completely in little time; a way that was begun by logs is gone to its end. */
const LEAST_BEHIND = 1_000;
const LEAST_LEFT = 50;
/** After a doubt, all blocks are read for this long. */
const DOUBT_LASTS_MS = 60_000;

/** Catching up by logs (decision 0053): a shortcut, which is left wherever anything about it is doubted. */
export interface LogReading {
  /** Whether blocks may be read by logs now, being this many behind. Asked after the head was: whatever is sent from now on lies in later blocks. */
  offers(behind: number): Promise<boolean>;
  /** Most blocks to ask for at once. */
  most(): number;
  /** What a range holds, up to `enough` transfers; undefined where it has to be asked for anew, in fewer blocks or in another way. */
  read(from: number, to: number, enough: number): Promise<RangeContent | undefined>;
}

/** The shortcut of one life; it offers nothing unless the networks file asks for it. */
export function createLogReading(deps: IndexerDeps, life: Life): LogReading {
  const size = askingSize(FIRST_RANGE, LONGEST_RANGE);
  let doubtedUntilMs = Number.NEGATIVE_INFINITY;
  let begun = false;
  let saidWhyNot = false;
  const doubt = (reason: string, blocks: { from: number; to: number }): undefined => {
    doubtedUntilMs = deps.monotonicMs() + DOUBT_LASTS_MS;
    deps.log.warn({ network: life.network.name, ...blocks, reason }, 'these blocks are not read by logs, but completely');
    return undefined;
  };
  return {
    async offers(behind) {
      const { network, reader, networkId } = life;
      if (network.catchUpByLogs !== true || reader.rangeByLogs === undefined || deps.monotonicMs() < doubtedUntilMs) return false;
      if (behind < (begun ? LEAST_LEFT : LEAST_BEHIND)) {
        begun = false;
        return false;
      }
      try {
        const suffices = await doLogsSuffice(deps.sql, networkId);
        if (!suffices && !saidWhyNot)
          deps.log.info(
            { network: network.name, behind },
            'blocks are read completely: a payment in the native coin or a transaction of ours is open, or the books are not trusted',
          );
        saidWhyNot = !suffices;
        begun = suffices;
      } catch (error) {
        deps.log.debug({ err: error, network: network.name }, 'the database does not say whether logs suffice');
        return false;
      }
      return begun;
    },
    most: () => size.now(),
    async read(from, to, enough) {
      const { rangeByLogs } = life.reader as Required<Life['reader']>;
      try {
        const contracts = await readTokenContracts(deps.sql, life.networkId);
        if (contracts.size === 0) return doubt('no token is configured', { from, to });
        const read = await rangeByLogs(from, to, { watched: life.watchlist, contracts, enough });
        if ('doubt' in read) return doubt(read.doubt, { from, to });
        size.grow();
        return read;
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        return size.shrink() && size.now() >= SHORTEST_RANGE ? undefined : doubt(error.message, { from, to });
      }
    },
  };
}

import type { Deps } from '#api/deps.ts';
import type { TransferSigner } from '#shared/chains/chain.ts';

/** Where a process can die: around each transaction, each handing over of bytes, and each signature. */
export type Moment = 'commit.before' | 'commit.after' | 'broadcast.before' | 'broadcast.after' | 'sign.after';

export const MOMENTS: readonly Moment[] = ['commit.before', 'commit.after', 'broadcast.before', 'broadcast.after', 'sign.after'];

/** What everything fails with in a process that is dead; it never got that far. */
export class Died extends Error {
  constructor(moment: Moment) {
    super(`the process died at ${moment}`);
    this.name = 'Died';
  }
}

/** A process of ours within this one, that can be killed: from then on nothing it does reaches the database or a node. */
export interface Mortal {
  deps: Deps;
  signers: ReadonlyMap<string, TransferSigner>;
  /** It dies the n-th time it comes to this moment; the first when nothing is said. */
  dieAt(moment: Moment, passing?: number): void;
  /** Where it died, or null while it lives. */
  diedAt(): Moment | null;
}

/** Gives a process these hands; `deps` and `signers` themselves outlive it. */
export function aMortal(deps: Deps, signers: ReadonlyMap<string, TransferSigner>): Mortal {
  let armed: { moment: Moment; left: number } | null = null;
  let died: Moment | null = null;
  const alive = (): void => {
    if (died !== null) throw new Died(died);
  };
  const pass = (moment: Moment): void => {
    alive();
    if (armed?.moment !== moment) return;
    armed.left -= 1;
    if (armed.left > 0) return;
    died = moment;
    throw new Died(moment);
  };
  const sql = new Proxy(deps.db.sql, {
    apply(target, self, args) {
      alive();
      return Reflect.apply(target, self, args) as unknown;
    },
  });
  const db: Deps['db'] = {
    ...deps.db,
    sql,
    async transaction(work) {
      alive();
      const result = await deps.db.transaction(async (tx) => {
        const done = await work(tx);
        pass('commit.before');
        return done;
      });
      pass('commit.after');
      return result;
    },
  };
  const chains = new Map(
    [...deps.chains].map(([name, chain]) => {
      const broadcast: typeof chain.payer.broadcast = async (bytes) => {
        pass('broadcast.before');
        const answer = await chain.payer.broadcast(bytes);
        pass('broadcast.after');
        return answer;
      };
      return [name, { ...chain, payer: { ...chain.payer, broadcast } }];
    }),
  );
  const pens = new Map(
    [...signers].map(([name, signer]): [string, TransferSigner] => {
      const sign: TransferSigner['sign'] = async (path, request) => {
        alive();
        const signed = await signer.sign(path, request);
        pass('sign.after');
        return signed;
      };
      return [name, { ...signer, sign }];
    }),
  );
  return {
    deps: { ...deps, db, chains },
    signers: pens,
    dieAt(moment, passing = 1) {
      armed = { moment, left: passing };
    },
    diedAt: () => died,
  };
}

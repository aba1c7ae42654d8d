import type { NetworkConfig } from '#shared/core/assets.ts';
import type { TransferKind } from '#shared/core/chain-events.ts';
import type { TreasuryFamily } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import type { Meddling } from './meddler.ts';

/** One movement somebody wants to make. */
export interface Payment {
  to: string;
  rawAmount: bigint;
}

/** A way money can reach an address, and what a reader must call it. */
export interface TransferWay {
  name: string;
  /** Symbol of what arrives. */
  symbol: string;
  kind: TransferKind;
  /** Whether one transaction can carry several movements. */
  several: boolean;
  /** Hands one transaction with these movements to the node, to be mined with the next block; answers its id. */
  send(payments: readonly Payment[]): Promise<string>;
}

/** A fault of an endpoint, or a lie it tells; none may be believed and none may lose anything. */
export interface Fault {
  name: string;
  meddling: Meddling;
}

/** What becomes of transactions when their blocks are taken back; whatever is not named is gone. */
export interface Fates {
  /** Mined again: in the new block `block` of the branch (0 is the lowest), before anything else in it. */
  again: { txid: string; block: number }[];
  /** Another payment by the same payer with the same claim on the chain's order, so that only one of the two can be. */
  replaced: { txid: string; by: Payment; block: number }[];
}

/** A local node of a family under the suite's control; nothing is mined unless the suite says so. */
export interface FamilyNode {
  chain: CommonChain;
  /** Served through `meddle`, with finality such that exactly `notFinal` blocks of the head may still go. */
  network: NetworkConfig;
  ways: readonly TransferWay[];
  /** Pays from one of three payers who have nothing to do with each other; mined with the next block. */
  payFrom(payer: 0 | 1 | 2, symbol: string, payment: Payment): Promise<string>;
  /** Replaces the last `depth` blocks by as many. */
  reorganise(depth: number, fates: Fates): Promise<void>;
  /** Changes every answer of the node from now on; null stops it. */
  meddle(meddling: Meddling | null): void;
  stop(): Promise<void>;
}

/** Text that people paste where an address of one chain belongs. */
export interface AddressCorpus {
  chainId: string;
  accepted: readonly { text: string; canonical: string; display: string }[];
  refused: readonly (readonly [why: string, text: string])[];
  txids: { accepted: readonly (readonly [text: string, canonical: string])[]; refused: readonly (readonly [why: string, text: string])[] };
}

/** What the suite can do to a chain while money leaves it. */
export interface Paying {
  /** Decimal text of a payment and of the cashout that follows, by symbol. */
  money: Readonly<Record<string, { earned: string; cashout: string }>>;
  /** Whether a transfer costs coins of another wallet, which can be empty; where coins are outputs every transfer pays for itself. */
  needsGas: boolean;
  /** Enough coins for the funding wallet, chain units. */
  plenty: bigint;
  /** What replaces bytes no block takes: the same nonce at a higher fee, or new bytes once the old ones have expired. */
  replacing: 'bump' | 'expiry';
  /** Seconds after which it may. */
  outdatedSeconds: number;
  /** Seconds that nothing can be sent before what was sent is closed. */
  closeSeconds: number;
  /** The network no longer knows of a transaction that waited. */
  forget(chain: CommonChain, txid: string): Promise<void>;
  /** Mines blocks that take nothing of what waits. */
  mineWithout(chain: CommonChain, blocks: number): Promise<void>;
  /** Moves the chain's own clock, where it has one. */
  passTime(chain: CommonChain, seconds: number): Promise<void>;
  /** Makes transfers of tokens that are signed already fail, until the returned function is called; null where whatever is in a block has succeeded. */
  breakToken: ((chain: CommonChain) => Promise<() => Promise<void>>) | null;
}

/** What a family gives to be tested; the suite is written once. */
export interface FamilyDriver {
  family: TreasuryFamily;
  /** Its network in ops/dev/networks.json. */
  network: string;
  /** What the suite pays with, in chain units of a usual payment by symbol: the coin first, and a token where there are tokens. */
  payments: Readonly<Record<string, bigint>>;
  /** Symbol of what its cashouts are in: a token where there is one, because that takes the longest way. */
  main: string;
  /** Addresses at `accountPath`/0/index that others published for these mnemonics. */
  published: readonly { mnemonic: string; accountPath: string; chainId: string; addresses: Record<number, string> }[];
  /** The same derivation by a library the adapter does not use for it. */
  deriveElsewhere(mnemonic: string, path: string, chainId: string): Promise<string>;
  corpora: readonly AddressCorpus[];
  /** Canonical addresses nobody has the key of, one for each number. */
  stranger(index: number): string;
  /** Deepest reorganisation of the long run, in blocks (reliability G5). */
  deepest: number;
  open(network: NetworkConfig, options: { notFinal: number }): Promise<FamilyNode>;
  /** Nothing, or too little, where something must be: what an endpoint answers that lags or is about to fall over. */
  faults: readonly Fault[];
  /** A node that tells the past: answers every question about its head as if its last `blocks` blocks did not exist. */
  lag(node: FamilyNode, blocks: number): Promise<Meddling>;
  paying: Paying;
}

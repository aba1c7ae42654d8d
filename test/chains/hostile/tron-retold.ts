import { blockIdOf, fromHex, heightOf, merkleRootOf, sha256 } from '#shared/chains/tron/proofs.ts';
import type { Meddling } from '../conformance/meddler.ts';
import type { TronBench } from './tron-bench.ts';

export type Fields = Record<string, unknown>;

/** A transaction nobody made, as a block and its record tell it. */
export interface Made {
  rawHex: string;
  rawData: Fields;
  /** Number and name of what the block says of it. */
  ret: readonly [number, string];
  info: Fields;
  /** More keys of the transaction than a reader knows of. */
  more?: Fields;
}

/** A bench whose chain may be told to hold transactions that its node could not make. */
export interface ToldBench extends TronBench {
  /** Puts it into a block of its own and answers its id. */
  tell(made: Made): Promise<string>;
}

interface ToldTron {
  told: ToldBench;
  /** The whole chain from the first told block on, sealed again: ids, parents and merkle roots are those of what is told. */
  meddling(): Promise<Meddling>;
}

/** A chain of which some blocks are told to hold what its node never had. */
export function toldTron(bench: TronBench): ToldTron {
  const held = new Map<number, Made & { txid: string }>();
  const ask = async (path: string, body: unknown): Promise<Fields> => {
    const response = await fetch(new URL(path, bench.chain.url), { method: 'POST', body: JSON.stringify(body) });
    return (await response.json()) as Fields;
  };
  return {
    told: {
      ...bench,
      async tell(made) {
        await bench.control.mine();
        const { height } = await bench.control.status();
        const txid = sha256(fromHex(made.rawHex));
        held.set(height, { ...made, txid });
        return txid;
      },
    },
    async meddling() {
      const { height: top } = await bench.control.status();
      const first = Math.min(...held.keys());
      const blocks = new Map<number, Fields>();
      const infos = new Map<number, Fields[]>();
      let parentHash: string | undefined;
      for (let height = first; height <= top; height++) {
        const block = sealed(await ask('wallet/getblockbynum', { num: height }), held.get(height), parentHash);
        parentHash = block.blockID as string;
        blocks.set(height, block);
        infos.set(height, infosOf(block, held.get(height)));
      }
      const header = (height: number): Fields => {
        const { blockID, block_header } = blocks.get(height) as Fields;
        return { blockID, block_header };
      };
      return ({ call, params, answer }) => {
        const { id_or_num, num, startNum, value } = (params ?? {}) as { id_or_num?: string; num?: number; startNum?: number; value?: string };
        const at = (height: number, told: (height: number) => unknown): unknown => (blocks.has(height) ? told(height) : answer);
        switch (call) {
          case 'wallet/getblock':
            return at(id_or_num === undefined ? top : Number(id_or_num), header);
          case 'walletsolidity/getblock':
            return at(heightOf((answer as { blockID: string }).blockID), header);
          case 'wallet/getblockbynum':
            return at(Number(num), (height) => blocks.get(height));
          case 'wallet/getblockbylimitnext':
            return { block: (answer as { block: Fields[] }).block.map((block, i) => blocks.get(Number(startNum) + i) ?? block) };
          case 'wallet/gettransactioninfobyblocknum':
            return at(Number(num), (height) => infos.get(height));
          case 'wallet/gettransactioninfobyid':
            return [...infos.values()].flat().find(({ id }) => id === value) ?? answer;
          default:
            return answer;
        }
      };
    },
  };
}

function sealed(block: Fields, made: (Made & { txid: string }) | undefined, parent: string | undefined): Fields {
  const header = block.block_header as { raw_data: Fields };
  const raw = { ...header.raw_data, ...(parent === undefined ? {} : { parentHash: parent }) } as Record<string, string | number>;
  if (made !== undefined)
    raw.txTrieRoot = merkleRootOf([
      { rawData: fromHex(made.rawHex), signatures: [SIGNATURE], outcomes: [{ fee: 0n, failed: false, contractRet: made.ret[0] }] },
    ]);
  const blockID = blockIdOf({
    timestamp: BigInt(raw.timestamp ?? 0),
    txTrieRoot: String(raw.txTrieRoot ?? ''),
    parentHash: String(raw.parentHash),
    number: BigInt(raw.number ?? 0),
    witnessId: 0n,
    witnessAddress: String(raw.witness_address ?? ''),
    version: BigInt(raw.version ?? 0),
    accountStateRoot: '',
  });
  if (made === undefined) return { ...block, blockID, block_header: { ...header, raw_data: raw } };
  const transaction = {
    txID: made.txid,
    raw_data: made.rawData,
    raw_data_hex: made.rawHex,
    signature: [SIGNATURE],
    ret: [{ contractRet: made.ret[1] }],
    ...made.more,
  };
  return { blockID, block_header: { ...header, raw_data: raw }, transactions: [transaction] };
}

function infosOf(block: Fields, made: (Made & { txid: string }) | undefined): Fields[] {
  if (made === undefined) return [];
  const { raw_data } = block.block_header as { raw_data: { number: number; timestamp: number } };
  return [{ id: made.txid, blockNumber: raw_data.number, blockTimeStamp: raw_data.timestamp, contractResult: [''], receipt: {}, ...made.info }];
}

const SIGNATURE = 'ab'.repeat(65);

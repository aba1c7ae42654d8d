import { Transaction } from 'bitcoinjs-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { aPurse, type SignedByPurse } from '#test/harness/bitcoin-purse.ts';
import { askPlain, ON_REAL_NODE, post, recorded } from './bitcoin-node.ts';

interface RecordedTransaction {
  txid: string;
  hex: string;
  fee?: number;
}

/** The recorded payment to every kind of output there is. */
const PAYMENT = 1;
/** Its output that the second recorded transaction spends. */
const TAPROOT = 3;
const FEES = { first: 20_000n, higher: 70_000n, child: 100_000n };

/** Where two replies differ in names or JSON types, told by path; the order of names counts too. */
function differences(theirs: unknown, ours: unknown, path = ''): string[] {
  const [expected, found] = [kindOf(theirs), kindOf(ours)];
  if (expected !== found) return [`${path}: ${found} instead of ${expected}`];
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    if (theirs.length !== ours.length) return [`${path}: ${ours.length} instead of ${theirs.length} elements`];
    return theirs.flatMap((each, at) => differences(each, ours[at], `${path}[${at}]`));
  }
  if (expected !== 'object') return [];
  const [left, right] = [entries(theirs), entries(ours)];
  const names = (of: [string, unknown][]): string => of.map(([name]) => name).join(' ');
  if (names(left) !== names(right)) return [`${path}: {${names(right)}} instead of {${names(left)}}`];
  return left.flatMap(([name, value], at) => differences(value, right[at]?.[1], `${path}.${name}`));
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** Replies about several transactions are keyed by their ids, which differ. */
function entries(value: unknown): [string, unknown][] {
  return Object.entries(value as object).map(([name, each]) => [/^[0-9a-f]{64}$/.test(name) ? '<txid>' : name, each]);
}

describe.skipIf(ON_REAL_NODE)('every reply has the names and types of a recorded reply of Bitcoin Core', () => {
  let chain: BitcoinChain;
  let first: SignedByPurse;
  let higher: SignedByPurse;
  let child: SignedByPurse;
  let block: string;
  const found = new Map<string, unknown>();
  const keep = async (name: string, method: string, params: unknown[] = []): Promise<void> => {
    found.set(name, await askPlain(chain.url, method, params));
  };

  beforeAll(async () => {
    chain = await aBitcoinChain({ blockSeconds: 0 });
    const { purse, node, url } = chain;
    const taproot = aPurse(node, new Uint8Array(32).fill(3), 'bech32m');
    const [coin] = await purse.coins();
    if (coin === undefined) throw new Error('the faucet is empty');
    const outputs = Transaction.fromHex(recorded<{ tx: RecordedTransaction[] }>('getblock_2').tx[PAYMENT]?.hex ?? '').outs;
    const pay = (fee: bigint): SignedByPurse => {
      const raw = new Transaction();
      raw.version = 2;
      raw.addInput(Uint8Array.from(Buffer.from(coin.txid, 'hex')).reverse(), coin.vout, 0xfffffffd);
      for (const [at, { script, value }] of outputs.entries())
        raw.addOutput(at === TAPROOT ? taproot.script : script, value - (at === 11 ? fee - FEES.higher : 0n));
      return purse.signRaw(raw, [coin]);
    };
    first = pay(FEES.first);
    higher = pay(FEES.higher);
    await keep('getmempoolinfo_empty', 'getmempoolinfo');
    await keep('testmempoolaccept', 'testmempoolaccept', [[first.hex]]);
    await chain.send(first.hex);
    await keep('getmempoolinfo', 'getmempoolinfo');
    await keep('getmempoolentry', 'getmempoolentry', [first.txid]);
    await keep('getrawmempool_false', 'getrawmempool', [false]);
    await keep('getrawmempool_true', 'getrawmempool', [true]);
    await keep('getrawmempool_sequence', 'getrawmempool', [false, true]);
    await keep('getrawtransaction_1_unconfirmed', 'getrawtransaction', [first.txid, 1]);
    await keep('getrawtransaction_2_unconfirmed', 'getrawtransaction', [first.txid, 2]);
    await keep('gettxout_mempool', 'gettxout', [first.txid, 2]);
    await chain.send(higher.hex);
    const spent = { txid: higher.txid, vout: TAPROOT, value: higher.raw.outs[TAPROOT]?.value ?? 0n, script: taproot.script };
    child = await taproot.pay([{ to: purse.address, rawAmount: spent.value - FEES.child }], { coins: [spent], fee: FEES.child });
    await keep('getrawmempool_true_cpfp', 'getrawmempool', [true]);
    await keep('getmempoolancestors', 'getmempoolancestors', [child.txid, true]);
    await keep('getblockchaininfo', 'getblockchaininfo');
    await keep('getnetworkinfo', 'getnetworkinfo');
    await keep('estimatesmartfee_insufficient', 'estimatesmartfee', [6]);
    await chain.mine();
    block = await chain.headHash();
    for (const verbosity of [0, 1, 2, 3]) await keep(`getblock_${verbosity}`, 'getblock', [block, verbosity]);
    await keep('getblockheader_true', 'getblockheader', [block]);
    await keep('getblockheader_false', 'getblockheader', [block, false]);
    await keep('getrawtransaction_1', 'getrawtransaction', [higher.txid, 1]);
    await keep('getrawtransaction_2', 'getrawtransaction', [higher.txid, 2]);
    await keep('gettxout', 'gettxout', [higher.txid, 2]);
    await keep('getchaintips', 'getchaintips');
    const addresses = [0, 1, 9].map((vout) => (found.get('getblock_2') as Printed).tx[PAYMENT]?.vout[vout]?.scriptPubKey.address);
    await keep('scantxoutset', 'scantxoutset', ['start', addresses.map((each) => `addr(${each})`)]);
    const { address } = recorded<{ address: string }>('validateaddress_p2tr');
    await keep('validateaddress_p2tr', 'validateaddress', [address]);
    await keep('validateaddress_bad', 'validateaddress', [`${address.slice(0, -1)}q`]);
    await askPlain(url, 'invalidateblock', [block]);
    await keep('getrawmempool_after_disconnect', 'getrawmempool');
    await askPlain(url, 'generateblock', [chain.outsider, []]);
    await askPlain(url, 'generateblock', [chain.outsider, []]);
    await keep('getblockheader_orphan', 'getblockheader', [block]);
    await keep('getchaintips_reorg', 'getchaintips');
  });
  afterAll(() => chain.stop());

  const NAMES = [
    ...['estimatesmartfee_insufficient', 'getblock_0', 'getblock_1', 'getblock_2', 'getblock_3', 'getblockchaininfo', 'getblockheader_false'],
    ...['getblockheader_orphan', 'getblockheader_true', 'getchaintips', 'getchaintips_reorg', 'getmempoolancestors', 'getmempoolentry', 'getmempoolinfo'],
    ...['getmempoolinfo_empty', 'getnetworkinfo', 'getrawmempool_after_disconnect', 'getrawmempool_false', 'getrawmempool_sequence', 'getrawmempool_true'],
    ...['getrawmempool_true_cpfp', 'getrawtransaction_1', 'getrawtransaction_1_unconfirmed', 'getrawtransaction_2', 'getrawtransaction_2_unconfirmed'],
    ...['gettxout', 'gettxout_mempool', 'scantxoutset', 'testmempoolaccept', 'validateaddress_bad', 'validateaddress_p2tr'],
  ];
  it.each(NAMES)('%s', (name) => {
    expect(differences(recorded(name), found.get(name))).toEqual([]);
  });

  it('the recorded block itself is read and printed exactly as Bitcoin Core printed it', async () => {
    for (const { fee, hex, ...printed } of recorded<{ tx: RecordedTransaction[] }>('getblock_2').tx)
      expect(await askPlain(chain.url, 'decoderawtransaction', [hex]), `${printed.txid}, whose fee is ${fee ?? 'none'}`).toEqual(printed);
  });

  it('amounts are written with eight decimals', async () => {
    const { text } = await post(chain.url, { id: 1, method: 'getblock', params: [block, 3] });
    const amounts = [...text.matchAll(/"(?:value|fee)":([^,}]+)/g)].map(([, amount]) => amount);
    expect(amounts.length).toBeGreaterThan(10);
    expect(amounts.filter((amount) => !/^\d+\.\d{8}$/.test(amount ?? ''))).toEqual([]);
  });

  it('the sizes and fees of a package are those of its transactions together', () => {
    const entry = Object.values(found.get('getrawmempool_true_cpfp') as object)[0];
    expect(entry).toMatchObject({ descendantcount: 2, ancestorcount: 1, fees: { base: 0.0007, descendant: 0.0017, chunk: 0.0017 }, spentby: [child.txid] });
  });
});

interface Printed {
  tx: { vout: { scriptPubKey: { address?: string } }[] }[];
}

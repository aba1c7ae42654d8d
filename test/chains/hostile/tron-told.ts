import { type BuiltContract, buildWith } from '#ops/devnet/tron/transaction.ts';
import { printRaw } from '#ops/devnet/tron/transaction-json.ts';
import { fromHex } from '#shared/chains/tron/proofs.ts';
import { writeFields } from '#shared/chains/tron/protobuf.ts';
import { coins, passed, type Row, tokens } from './row.ts';
import { ASSET, FAUCET_HEX, hexOf, NOBODY, textHex, transferLog } from './tron-bench.ts';
import type { Fields, Made, ToldBench } from './tron-retold.ts';

const SUCCESS = [1, 'SUCCESS'] as const;
const V = 6_000_001n;
let made = 0n;

/** A transaction as its sender wrote it, by the devnet's own encoder. */
function written(contract: BuiltContract): Pick<Made, 'rawHex' | 'rawData'> {
  made += 1n;
  const transaction = buildWith([contract], {
    refBlockBytes: '0001',
    refBlockHash: '00'.repeat(8),
    expiration: 1_900_000_000_000n,
    timestamp: 1_800_000_000_000n + made,
  });
  // What JSON.stringify takes.
  const rawData = JSON.parse(
    JSON.stringify(printRaw(transaction, false), (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
  ) as Fields;
  return { rawHex: transaction.rawHex, rawData };
}

const payment = (to: string): Pick<Made, 'rawHex' | 'rawData'> =>
  written({ name: 'TransferContract', message: { owner_address: FAUCET_HEX, to_address: hexOf(to), amount: V } });
const trigger = (): Pick<Made, 'rawHex' | 'rawData'> =>
  written({ name: 'TriggerSmartContract', message: { owner_address: FAUCET_HEX, contract_address: NOBODY, data: 'abcd' } });
const ran = (more: Fields): Fields => ({ receipt: { result: 'SUCCESS' }, ...more });

/** A contract of a type the reader knows nothing of, with the address wherever a recipient could stand. */
function otherType(type: bigint, name: string, to: string): Pick<Made, 'rawHex' | 'rawData'> {
  made += 1n;
  const address = fromHex(hexOf(to));
  const message = writeFields([
    { number: 1, value: fromHex(FAUCET_HEX) },
    { number: 2, value: address },
    { number: 3, value: V },
    { number: 4, value: address },
    { number: 5, value: V },
  ]);
  const parameter = writeFields([
    { number: 1, value: Buffer.from(`type.googleapis.com/protocol.${name}`) },
    { number: 2, value: message },
  ]);
  const contract = writeFields([
    { number: 1, value: type },
    { number: 2, value: parameter },
  ]);
  const rawHex = Buffer.from(
    writeFields([
      { number: 11, value: contract },
      { number: 14, value: 1_800_000_000_000n + made },
    ]),
  ).toString('hex');
  const value = { owner_address: FAUCET_HEX, to_address: hexOf(to), amount: Number(V) };
  return { rawHex, rawData: { contract: [{ type: name, parameter: { value, type_url: `type.googleapis.com/protocol.${name}` } }] } };
}

const told = (
  name: string,
  reason: string,
  what: (to: string, bench: ToldBench) => Omit<Made, 'ret'> & Partial<Pick<Made, 'ret'>>,
  gets: Row<ToldBench>['gets'] = [],
): Row<ToldBench> => ({
  name,
  reason,
  make: (bench, to) => bench.tell({ ret: SUCCESS, ...what(to, bench) }),
  gets,
});

const internal = (to: string, over: Fields = {}): Fields => ({
  hash: 'cd'.repeat(32),
  caller_address: NOBODY,
  transferTo_address: hexOf(to),
  callValueInfo: [{ callValue: Number(V) }],
  note: textHex('call'),
  ...over,
});
const listing = (...entries: Fields[]): Fields => ran({ internal_transactions: entries });
const withLog = (bench: ToldBench, to: string, more: Fields = {}): Fields => ({ log: [{ address: bench.usdt.slice(2), ...transferLog(to, V), ...more }] });

/** What other nodes tell, or could tell, that the local one does not. */
export const TOLD: readonly Row<ToldBench>[] = [
  told('a plain payment, as a check that the telling is believed', 'without it every row below would prove nothing', (to) => ({ ...payment(to), info: {} }), [
    coins('TRX', V),
  ]),
  told('a plain payment that failed', 'a transfer can be in a block and have failed', (to) => ({
    ...payment(to),
    info: { result: 'FAILED' },
    ret: [14, 'TRANSFER_FAILED'],
  })),
  told(
    'a payment with fields that readers may mistake for its amount',
    'rewards and unfrozen TRX stand in the record of a transaction',
    (to) => ({
      ...payment(to),
      info: { withdraw_amount: 10 ** 15, unfreeze_amount: 10 ** 15, withdraw_expire_amount: 10 ** 15, exchange_received_amount: 10 ** 15, fee: 1_100_000 },
    }),
    [coins('TRX', V)],
  ),
  told(
    'a payment around which are bytes that JSON does not show',
    'any sender may add them; the network must not stop',
    (to) => ({ ...payment(to), info: {}, more: { unknown: '00' } }),
    [coins('TRX', V)],
  ),
  told('a reward withdrawn', 'WithdrawBalanceContract pays its owner from nowhere', (to) => ({
    ...otherType(13n, 'WithdrawBalanceContract', to),
    info: { withdraw_amount: Number(V) },
  })),
  told('a vote', 'VoteWitnessContract names addresses and counts', (to) => ({ ...otherType(4n, 'VoteWitnessContract', to), info: {} })),
  told('stake taken back', 'UnfreezeBalanceV2Contract frees what its owner has', (to) => ({
    ...otherType(55n, 'UnfreezeBalanceV2Contract', to),
    info: { unfreeze_amount: Number(V) },
  })),
  told('a shielded transfer', 'it names a public recipient and an amount of another asset', (to) => ({
    ...otherType(51n, 'ShieldedTransferContract', to),
    info: {},
  })),
  told('a contract of a type nobody has heard of', 'types come with every release: what is unknown moves nothing for us', (to) => ({
    ...otherType(99n, 'GiftContract', to),
    info: {},
  })),
  told('a TRC-10 token whose amount and recipient stand where TRX has them', 'its fields have other numbers', (to) => ({
    ...otherType(2n, 'TransferAssetContract', to),
    info: {},
  })),
  told('a participation in a token sale', 'ParticipateAssetIssueContract pays TRX to the issuer, and not to an address of ours', (to) => ({
    ...otherType(9n, 'ParticipateAssetIssueContract', to),
    info: {},
  })),
  told('a failed call whose record has a log of the token', 'nodes that keep logs of failed calls exist; failed is failed', (to, bench) => ({
    ...trigger(),
    ret: [10, 'OUT_OF_ENERGY'],
    info: { result: 'FAILED', receipt: { result: 'OUT_OF_ENERGY' }, ...withLog(bench, to) },
  })),
  told('a failed call whose internal transactions are not marked as rejected', 'java-tron forgets to mark them when the energy is gone', (to) => ({
    ...trigger(),
    ret: [10, 'OUT_OF_ENERGY'],
    info: { result: 'FAILED', receipt: { result: 'OUT_OF_ENERGY' }, internal_transactions: [internal(to)] },
  })),
  told(
    'an internal transaction that is said not to be rejected',
    'false and left out mean the same',
    (to) => ({ ...trigger(), info: listing(internal(to, { rejected: false })) }),
    [passed('TRX', V, 1)],
  ),
  told(
    'a rejected one between two that are not',
    'it must not count, and not take a number',
    (to) => ({
      ...trigger(),
      info: listing(internal(to), internal(to, { rejected: true }), internal(to)),
    }),
    [passed('TRX', V, 1), passed('TRX', V, 2)],
  ),
  told(
    'TRX and a TRC-10 token in one internal transaction',
    'only the entry without tokenId is TRX',
    (to) => ({
      ...trigger(),
      info: listing(internal(to, { callValueInfo: [{ callValue: 10 ** 12, tokenId: ASSET }, { callValue: Number(V) }] })),
    }),
    [passed('TRX', V, 1)],
  ),
  told('an internal transaction to its own caller', 'nothing moves', (to) => ({ ...trigger(), info: listing(internal(to, { caller_address: hexOf(to) })) })),
  told('an internal transaction without a note', 'what it is is not said, so it is nothing', (to) => {
    const { note: _note, ...without } = internal(to);
    return { ...trigger(), info: listing(without) };
  }),
  told(
    'a log in upper case',
    'hex is the same in both cases',
    (to, bench) => {
      const { topics, data } = transferLog(to, V);
      return { ...trigger(), info: ran(withLog(bench, to, { topics: topics.map((topic) => topic.toUpperCase()), data: data.toUpperCase() })) };
    },
    [tokens('USDT', V, 0)],
  ),
  told('a log of a contract one digit beside the token', 'only the whole address is the token', (to, bench) => ({
    ...trigger(),
    info: ran(withLog(bench, to, { address: `${bench.usdt.slice(2, -1)}${bench.usdt.endsWith('0') ? '1' : '0'}` })),
  })),
  told('a call whose answer says that it transferred', 'contractResult is what the contract returned: text of its author', (to) => ({
    ...trigger(),
    info: ran({ contractResult: [`${'0'.repeat(63)}1`], contract_address: hexOf(to) }),
  })),
];

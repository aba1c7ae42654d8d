import { addressOfKey } from '#ops/devnet/tron/transaction.ts';
import { toBase58 } from '#shared/chains/tron/address.ts';
import { ASSET, FAUCET_HEX, hexOf, NOBODY, textHex, transferCall, type TronBench } from './tron-bench.ts';
import { coins, passed, type Row } from './row.ts';

const V = 5_000_001n;
/** One sun more than the largest integer a double holds with all before it. */
const LONG = 2n ** 53n + 1n;
const trx = (rawAmount: bigint) => coins('TRX', rawAmount);
const inner = (rawAmount: bigint, ordinal: number) => passed('TRX', rawAmount, ordinal);
const send = (to: string, sun = V) => ({ do: 'send' as const, to: hexOf(to), sun: String(sun) });

const failing = (name: string, outcome: 'REVERT' | 'OUT_OF_ENERGY' | 'OUT_OF_TIME' | 'TRANSFER_FAILED', reason: string): Row<TronBench> => ({
  name,
  reason,
  make: (bench, to) => bench.run([send(to)], { outcome, callValue: V }),
});

const noted = (note: string, reason: string): Row<TronBench> => ({
  name: `an internal transaction noted as “${note}”`,
  reason,
  make: (bench, to) => bench.run([{ do: 'internal', to: hexOf(to), values: [{ sun: String(V) }], note }]),
});

/** TRX that did not arrive. */
export const LOST_TRX: readonly Row<TronBench>[] = [
  failing('a payment through a contract that reverts', 'REVERT', 'a failed call keeps its internal transactions in the record'),
  failing('a payment through a contract that runs out of energy', 'OUT_OF_ENERGY', 'a block is full of these: they are in it, are paid for, and do nothing'),
  failing('a payment through a contract that runs out of time', 'OUT_OF_TIME', 'the same, decided by the producer’s clock'),
  failing('a payment through a contract whose transfer fails', 'TRANSFER_FAILED', 'a result no other chain has'),
  {
    name: 'a rejected internal transaction in a call that succeeds',
    reason: 'only `rejected` tells it from a real one',
    make: (bench, to) => bench.run([{ ...send(to), rejected: true }]),
  },
  {
    name: 'an internal transaction of nothing',
    reason: 'a call without coins is listed like one with them',
    make: (bench, to) => bench.run([{ do: 'internal', to: hexOf(to), values: [{}] }]),
  },
  {
    name: 'an internal transaction without values',
    reason: 'an empty list of values is not one of zero',
    make: (bench, to) => bench.run([{ do: 'internal', to: hexOf(to), values: [] }]),
  },
  noted('delegateResourceOfEnergy', 'lending energy names an amount and a recipient, who receives nothing'),
  noted('unDelegateResourceOfBandwidth', 'neither does taking it back'),
  noted('freezeForEnergy', 'staked TRX stays with its owner'),
  noted('freezeBalanceV2ForBandwidth', 'the same of the newer kind'),
  noted('withdrawExpireUnfreeze', 'what was frozen becomes free; it was its owner’s all along'),
  noted('voteWitness', 'a vote has a count where a payment has an amount'),
  noted('Call', 'notes are compared byte by byte'),
  noted('', 'an entry that does not say what it is moves nothing'),
  {
    name: 'a TRC-10 token sent like TRX',
    reason: 'TransferAssetContract has the same three fields in another order; anybody can issue one named TRX',
    make: (bench, to) =>
      bench.send({
        name: 'TransferAssetContract',
        message: { asset_name: textHex(ASSET), owner_address: FAUCET_HEX, to_address: hexOf(to), amount: V },
      }),
  },
  {
    name: 'a TRC-10 token passed on by a contract',
    reason: 'callValueInfo holds both kinds, told apart by tokenId alone',
    make: (bench, to) => bench.run([{ do: 'internal', to: hexOf(to), values: [{ sun: String(V), tokenId: ASSET }] }]),
  },
  {
    name: 'a TRC-10 token beside nothing of TRX',
    reason: 'an entry without tokenId may come first, with no value at all',
    make: (bench, to) => bench.run([{ do: 'internal', to: hexOf(to), values: [{}, { sun: String(V), tokenId: ASSET }] }]),
  },
  {
    name: 'an account opened for the address',
    reason: 'AccountCreateContract names it and costs a TRX, which is burnt',
    make: (bench, to) => bench.send({ name: 'AccountCreateContract', message: { owner_address: FAUCET_HEX, account_address: hexOf(to) } }),
  },
  {
    name: 'energy lent to the address',
    reason: 'DelegateResourceContract has a balance and a receiver',
    make: async (bench, to) => {
      await bench.send({ name: 'FreezeBalanceV2Contract', message: { owner_address: FAUCET_HEX, frozen_balance: 10_000_000n, resource: 'ENERGY' } });
      await bench.send({ name: 'AccountCreateContract', message: { owner_address: FAUCET_HEX, account_address: hexOf(to) } });
      return bench.send({
        name: 'DelegateResourceContract',
        message: { owner_address: FAUCET_HEX, receiver_address: hexOf(to), balance: 2_000_000n, resource: 'ENERGY' },
      });
    },
  },
  {
    name: 'TRX left with a contract whose calldata names the address',
    reason: 'the value of a call goes to the contract, whatever its data says',
    make: (bench, to) => bench.run([], { callValue: V, data: transferCall(to, V) }),
  },
];

/** TRX that did arrive, in ways that are easy to misread. */
export const ODD_TRX: readonly Row<TronBench>[] = [
  {
    name: 'a payment of one sun',
    reason: 'dust: worth a row, and too little to be credited',
    make: (bench, to) => bench.pay(to, 1n),
    gets: [trx(1n)],
    dust: true,
  },
  {
    name: 'more than a double holds',
    reason: 'JSON parsers round it by one sun',
    make: (bench, to) => bench.pay(to, LONG),
    gets: [trx(LONG)],
  },
  {
    name: 'a time far beyond counting',
    reason: 'senders may write any 64-bit time into a transaction; one such block stopped a naive reader for good (chains 3.3)',
    make: (bench, to) => bench.pay(to, V, { timestamp: 2n ** 63n - 1n }),
    gets: [trx(V)],
  },
  {
    name: 'a memo that says it is another payment',
    reason: 'raw_data.data is text of the sender',
    make: (bench, to) => bench.pay(to, V, { data: textHex(JSON.stringify({ amount: 10 ** 15, to_address: hexOf(to) })) }),
    gets: [trx(V)],
  },
  {
    name: 'a payment with a fee limit it does not need',
    reason: 'another number beside the amount',
    make: (bench, to) => bench.pay(to, V, { feeLimit: 10n ** 9n }),
    gets: [trx(V)],
  },
  {
    name: 'a payment signed by two keys',
    reason: 'permissions of an account: owner and signers differ, and the leaf has two signatures',
    make: async (bench, to) => {
      const keys = ['8', '9'].map((digit) => digit.repeat(64));
      const shared = `41${'5a'.repeat(20)}`;
      await bench.control.fund(shared, 10n ** 9n);
      const signers = keys.map((key) => ({ address: toBase58(addressOfKey(key)), weight: 1 }));
      await bench.control.setPermission(shared, 2, signers);
      return bench.send({ name: 'TransferContract', message: { owner_address: shared, to_address: hexOf(to), amount: V } }, {}, keys);
    },
    gets: [trx(V)],
  },
  {
    name: 'TRX passed on by a contract',
    reason: 'how exchanges pay out; it is in no transfer contract',
    make: (bench, to) => bench.run([send(to)], { callValue: V }),
    gets: [inner(V, 1)],
  },
  {
    name: 'TRX left by a contract that ends',
    reason: 'noted as suicide',
    make: (bench, to) => bench.run([{ ...send(to), note: 'suicide' }], { callValue: V }),
    gets: [inner(V, 1)],
  },
  {
    name: 'two equal payments in one call, among others that count for nothing',
    reason: 'their place among what took effect tells them apart, whatever a node lists between',
    make: (bench, to) =>
      bench.run(
        [
          { ...send(to), rejected: true },
          send(to),
          { do: 'internal', to: hexOf(to), values: [{ sun: '9' }], note: 'freezeForEnergy' },
          { do: 'send', to: NOBODY, sun: '1' },
          send(to),
        ],
        { callValue: 2n * V + 1n },
      ),
    gets: [inner(V, 1), inner(V, 3)],
  },
  {
    name: 'more than a double holds, through a contract',
    reason: 'callValue is a 64-bit integer too',
    make: (bench, to) => bench.run([send(to, LONG)], { callValue: LONG }),
    gets: [inner(LONG, 1)],
  },
  {
    name: 'a payment to an address that is no account yet',
    reason: 'the fee of opening it is the sender’s, and no part of the amount',
    make: (bench, to) => bench.pay(to, V),
    gets: [trx(V)],
  },
  {
    name: 'two payments in two transactions of one block',
    reason: 'same sender, recipient and amount: only the ids differ',
    make: async (bench, to) => {
      await Promise.all([bench.chain.pay(to, null, V), bench.chain.pay(to, null, V)]);
      await bench.control.mine();
      return undefined;
    },
    gets: [trx(V), trx(V)],
  },
];

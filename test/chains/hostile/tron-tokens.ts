import { keccak256, toBytes } from 'viem';
import { selector } from '#ops/devnet/tron/abi.ts';
import { addressOfKey } from '#ops/devnet/tron/transaction.ts';
import { toBase58, toHex20 } from '#shared/chains/tron/address.ts';
import { addressWord, FAUCET_HEX, hexOf, NOBODY, TRANSFER, transferCall, transferLog, type TronBench, word } from './tron-bench.ts';
import { type Row, tokens } from './row.ts';

const V = 9_000_001n;
const LARGEST = 2n ** 256n - 1n;
const usdt = (rawAmount: bigint, ordinal: number) => tokens('USDT', rawAmount, ordinal);
const topic = (signature: string): string => keccak256(toBytes(signature)).slice(2);
type Log = ReturnType<typeof transferLog>;

/** A log of the configured token itself. */
const said = (name: string, reason: string, log: (to: string) => Log): Row<TronBench> => ({
  name,
  reason,
  make: (bench, to) => bench.run([{ do: 'log', address: bench.usdt, ...log(to) }]),
});

/** Logs of the configured token that are no transfer of it. */
export const NO_TRC20: readonly Row<TronBench>[] = [
  said('four topics', 'TRC-721 has the same signature', (to) => ({ topics: [...transferLog(to, V).topics, word(V)], data: '' })),
  said('four topics and a word of data', 'made to be read by whoever checks the data alone', (to) => ({
    topics: [...transferLog(to, V).topics, word(1n)],
    data: word(V),
  })),
  said('two topics', 'a missing topic must not move the others up', (to) => ({ topics: [TRANSFER, addressWord(hexOf(to))], data: word(V) })),
  said('the signature alone', 'nothing is indexed', (to) => ({ topics: [TRANSFER], data: addressWord(NOBODY) + addressWord(hexOf(to)) + word(V) })),
  said('no topics', 'an anonymous event may hold anything', (to) => ({ topics: [], data: TRANSFER + addressWord(hexOf(to)) + word(V) })),
  said('no data', 'an amount that is left out is nothing', (to) => ({ ...transferLog(to, V), data: '' })),
  said('data of 31 bytes', 'a short word must not be padded', (to) => ({ ...transferLog(to, V), data: word(V).slice(2) })),
  said('two words of data', 'whose amount it is cannot be told', (to) => ({ ...transferLog(to, V), data: word(V) + word(V) })),
  said('an amount of zero', 'address poisoning', (to) => transferLog(to, 0n)),
  said('a recipient with the family’s prefix in its word', 'topics hold twenty bytes; with 41 before them it is another word', (to) => ({
    ...transferLog(to, V),
    topics: [TRANSFER, addressWord(NOBODY), hexOf(to).padStart(64, '0')],
  })),
  said('a recipient at the wrong end of its word', 'bytes20 stands left', (to) => ({
    ...transferLog(to, V),
    topics: [TRANSFER, addressWord(NOBODY), toHex20(to).padEnd(64, '0')],
  })),
  said('a sender whose padding is dirty', 'a log of which one end is no address is believed at neither', (to) => ({
    ...transferLog(to, V),
    topics: [TRANSFER, NOBODY.padStart(64, '0'), addressWord(hexOf(to))],
  })),
  said('an approval', 'an allowance is a promise', (to) => ({
    ...transferLog(to, V),
    topics: [topic('Approval(address,address,uint256)'), ...transferLog(to, V).topics.slice(1)],
  })),
  said('an event of blacklisting', 'USDT destroys the funds of addresses it bans, and says so', (to) => ({
    topics: [topic('DestroyedBlackFunds(address,uint256)'), addressWord(hexOf(to))],
    data: word(V),
  })),
];

/** Transfers of TRC-20 tokens that are none of the configured one. */
export const STRANGE_TRC20: readonly Row<TronBench>[] = [
  {
    name: 'a token of the same name, symbol and decimals',
    reason: 'there are hundreds of contracts called USDT',
    make: async (bench, to) => {
      const fake = await bench.control.deployToken({ symbol: 'USDT', name: 'Tether USD', decimals: 6, returns: 'zero' });
      await bench.control.mint(fake, bench.chain.faucet, V);
      return bench.call({ contract: fake, data: transferCall(to, V) });
    },
  },
  {
    name: 'a contract that says whatever it likes',
    reason: 'a log names its emitter',
    make: (bench, to) => bench.run([{ do: 'log', ...transferLog(to, V) }]),
  },
  {
    name: 'more than all the money there is, of an unknown token',
    reason: 'nothing may overflow',
    make: (bench, to) => bench.run([{ do: 'log', ...transferLog(to, LARGEST) }]),
  },
  {
    name: 'calldata of a transfer to a contract that answers true and logs nothing',
    reason: 'a call that succeeded and the right calldata are no transfer (chains 3.3)',
    make: (bench, to) => bench.run([], { data: transferCall(to, V), returns: word(1n) }),
  },
  {
    name: 'a transfer of the token that runs out of energy',
    reason: 'the most common failure there is, with perfect calldata',
    make: (bench, to) => bench.call({ contract: bench.chain.tokens.USDT, data: transferCall(to, V), feeLimit: 1_000n }),
  },
  {
    name: 'a transfer of the token that its sender cannot pay for',
    reason: 'reverts, and is in the block all the same',
    make: async (bench, to) => {
      const key = '6'.repeat(64);
      await bench.control.fund(toBase58(addressOfKey(key)), 10n ** 9n);
      return bench.call({ contract: bench.chain.tokens.USDT, data: transferCall(to, V), privateKey: key });
    },
  },
  {
    name: 'a log of the token in a call that fails',
    reason: 'what a failed call logged never happened',
    make: (bench, to) => bench.run([{ do: 'log', address: bench.usdt, ...transferLog(to, V) }], { outcome: 'REVERT' }),
  },
  {
    name: 'a stranger’s transfer that names the address as its sender',
    reason: 'address poisoning: an outgoing payment that never was must neither book nor alarm anything',
    make: (bench, to) => bench.run([{ do: 'log', topics: [TRANSFER, addressWord(hexOf(to)), addressWord(NOBODY)], data: word(V) }]),
  },
  {
    name: 'a transfer of nothing from the address, by anybody, with the real token',
    reason: 'transferFrom of zero needs no allowance',
    make: (bench, to) =>
      bench.call({
        contract: bench.chain.tokens.USDT,
        data: selector('transferFrom(address,address,uint256)') + addressWord(hexOf(to)) + addressWord(NOBODY) + word(0n),
      }),
  },
];

/** Transfers of the configured token that count, exactly as their log says. */
export const ODD_TRC20: readonly Row<TronBench>[] = [
  {
    name: 'a transfer that returns false',
    reason: 'USDT on TRON answers zero to a transfer that succeeds (chains 3.3): the log decides',
    make: (bench, to) => bench.call({ contract: bench.chain.tokens.USDT, data: transferCall(to, V) }),
    gets: [usdt(V, 0)],
  },
  {
    name: 'calldata with the family’s prefix before the address',
    reason: 'old wallets write 41 into the word; the contract takes twenty bytes, and its log has them',
    make: (bench, to) =>
      bench.call({ contract: bench.chain.tokens.USDT, data: `${selector('transfer(address,uint256)')}${hexOf(to).padStart(64, '0')}${word(V)}` }),
    gets: [usdt(V, 0)],
  },
  {
    name: 'less than the calldata asked for',
    reason: 'USDT can charge a fee on transfers: what arrives is in the log',
    make: async (bench, to) => {
      await bench.control.mint(bench.chain.tokens.USDT, to, 7_000_003n);
      return bench.run([{ do: 'log', address: bench.usdt, ...transferLog(to, 7_000_003n) }], { data: transferCall(to, V) });
    },
    gets: [usdt(7_000_003n, 0)],
  },
  {
    name: 'new tokens, sent by nobody',
    reason: 'a mint is a transfer from the zero address',
    make: async (bench, to) => {
      await bench.control.mint(bench.chain.tokens.USDT, to, V);
      const { data, topics } = transferLog(to, V);
      return bench.run([{ do: 'log', address: bench.usdt, topics: [TRANSFER, word(0n), topics[2] as string], data }]);
    },
    gets: [usdt(V, 0)],
  },
  {
    name: 'two transfers among logs of other things, and TRX with them',
    reason: 'logs and internal transactions are counted apart',
    make: async (bench, to) => {
      const step = { do: 'log' as const, address: bench.usdt, ...transferLog(to, V) };
      const noise = { do: 'log' as const, topics: ['ab'.repeat(32)], data: '' };
      await bench.control.mint(bench.chain.tokens.USDT, to, 2n * V);
      return bench.run([noise, step, noise, { do: 'send', to: hexOf(to), sun: '1000001' }, step], { callValue: 1_000_001n });
    },
    gets: [usdt(V, 1), usdt(V, 3), { symbol: 'TRX', kind: 'internal', ordinal: 1, rawAmount: 1_000_001n }],
  },
  {
    name: 'a transferFrom by somebody else',
    reason: 'whoever calls is not who pays: the sender is in the log',
    make: async (bench, to) => {
      const approve = selector('approve(address,uint256)') + addressWord(FAUCET_HEX) + word(V);
      await bench.call({ contract: bench.chain.tokens.USDT, data: approve });
      const data = selector('transferFrom(address,address,uint256)') + addressWord(FAUCET_HEX) + addressWord(hexOf(to)) + word(V);
      return bench.call({ contract: bench.chain.tokens.USDT, data });
    },
    gets: [usdt(V, 0)],
  },
];

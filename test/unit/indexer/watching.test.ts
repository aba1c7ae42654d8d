import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressTable } from '#indexer/address-table.ts';
import { createWatchlist } from '#indexer/watchlist.ts';
import { bech32 } from '@scure/base';
import { toBase58 } from '#shared/chains/tron/address.ts';

const hexAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
/** Few first words, so that keys meet in the table. */
const crowded = fc
  .tuple(fc.constantFrom('00000000', '000003ff', 'ffffffff'), fc.nat(300))
  .map(([first, rest]) => `0x${first}${rest.toString(16).padStart(32, '0')}`);
/** A network's table holds the addresses of one family. */
const asTron = (address: string): string => toBase58(address === `0x${'0'.repeat(40)}` ? `0x${'0'.repeat(39)}1` : address);

const asKeyHash = (address: string): string => bech32.encode('bcrt', [0, ...bech32.toWords(Buffer.from(address.slice(2), 'hex'))]);

describe('the address table', () => {
  it.each([
    ['EVM', fc.oneof(hexAddress, crowded)],
    ['TRON', fc.oneof(hexAddress, crowded).map(asTron)],
    ['Bitcoin', fc.oneof(hexAddress, crowded).map(asKeyHash)],
  ])('answers like a set of strings, whatever %s addresses are added and asked', (_family, address) => {
    fc.assert(
      fc.property(fc.array(address, { maxLength: 3_000 }), fc.array(address, { maxLength: 500 }), (added, asked) => {
        const table = createAddressTable();
        const set = new Set<string>();
        for (const address of added) {
          expect(table.add(address)).toBe(!set.has(address));
          set.add(address);
        }
        expect(table.size).toBe(set.size);
        const packed = createAddressTable();
        for (const address of added.slice(0, 100)) packed.add(address);
        packed.addAll(added.join(' '));
        packed.addAll(added.slice(50).join(' '));
        expect(packed.size).toBe(set.size);
        for (const address of [...added, ...asked]) {
          expect(table.has(address)).toBe(set.has(address));
          expect(packed.has(address)).toBe(set.has(address));
        }
        // Found by their bytes too, wherever these are.
        for (const address of [...added, ...asked].filter((one) => one.startsWith('0x')))
          expect(table.hasKey(Buffer.from(`ab${address.slice(2)}`, 'hex'), 1)).toBe(set.has(address));
      }),
      { numRuns: 50 },
    );
  });

  it('holds each of a million addresses in 37 bytes, also right after it grew', () => {
    const table = createAddressTable();
    const before = process.memoryUsage().arrayBuffers;
    const bytesEach = (): number => (process.memoryUsage().arrayBuffers - before) / table.size;
    for (let i = 0; i < 1_000_000; i++) {
      table.add(`0x${i.toString(16).padStart(8, '0')}${'0'.repeat(24)}${(i * 7).toString(16).padStart(8, '0')}`);
      // What was let go is counted until it is collected: as much again as the index.
      if (i === 629_146) expect(bytesEach()).toBeLessThan(37 + 17);
    }
    expect(table.size).toBe(1_000_000);
    expect(bytesEach()).toBeLessThan(37 + 11);
  });

  it('has nothing that is not an address, and takes nothing that is not one', () => {
    const table = createAddressTable();
    table.add(`0x${'0'.repeat(40)}`);
    for (const text of ['', '0x', 'nonsense', `0x${'0'.repeat(39)}`, `0x${'0'.repeat(41)}`, `0X${'0'.repeat(40)}`, `0x${'0'.repeat(39)}g`]) {
      expect(table.has(text)).toBe(false);
      expect(() => table.add(text)).toThrow(RangeError);
    }
    expect(() => table.add(`0x${'A'.repeat(40)}`)).toThrow(RangeError);
  });

  it('has no other spelling of a P2WPKH address that is watched, and takes none', () => {
    const table = createAddressTable();
    // The example of BIP-173, with the same key hash under another network, another version, another checksum and as P2PKH.
    const watched = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    table.add(watched);
    expect(table.has(watched)).toBe(true);
    const other = [
      'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
      'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
      watched.toUpperCase(),
      watched.slice(0, -1),
      `${watched}q`,
      watched.replace('q', 'b'),
      '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH',
      'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
      'coinbase',
      'script:6a',
      '',
    ];
    for (const text of other) {
      expect(table.has(text)).toBe(false);
      expect(() => table.add(text)).toThrow(RangeError);
    }
    expect(table.size).toBe(1);
  });

  it('has no base58 text with another checksum than the address that is watched, and takes none', () => {
    const table = createAddressTable();
    const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    table.add(usdt);
    expect(table.has(usdt)).toBe(true);
    for (const text of [usdt.slice(0, -1), `${usdt}1`, `${usdt.slice(0, -1)}u`, usdt.toLowerCase(), usdt.replace('N', '0'), `T${'z'.repeat(33)}`, 'T']) {
      expect(table.has(text)).toBe(false);
      expect(() => table.add(text)).toThrow(RangeError);
    }
  });
});

describe('the address table, of what the database has', () => {
  const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  const keyHash = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

  it.each([usdt, keyHash])('takes %s without its checksum, and has no text whose checksum is wrong', (address) => {
    const table = createAddressTable();
    const wrong = `${address.slice(0, -1)}5`;
    table.addAll(wrong);
    expect(table.size).toBe(1);
    expect(table.has(wrong)).toBe(false);
    expect(table.has(address)).toBe(true);
  });

  it.each([`${keyHash} ${usdt}`, `${usdt}1`, `${usdt} nonsense`, `${keyHash} bc1q`])('refuses %s, which is more than one of a network', (text) => {
    expect(() => createAddressTable().addAll(text)).toThrow(RangeError);
  });
});

describe('the watch list', () => {
  it('takes many addresses joined by spaces, as it takes each of them', () => {
    const list = createWatchlist();
    list.addAll('');
    expect(list.size).toBe(0);
    const many = Array.from({ length: 100 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`);
    list.addAll(many.join(' '));
    list.addAll(many[0] as string);
    expect(list.size).toBe(100);
    expect(many.every((one) => list.has(one))).toBe(true);
    for (const text of [' ', `${many[0]}  ${many[1]}`, `${many[0]},${many[1]}`]) expect(() => list.addAll(text)).toThrow(RangeError);
  });

  const alice = `0x${'a1'.repeat(20)}`;
  const bob = `0x${'b0'.repeat(20)}`;

  it('gives an acknowledgement once, and again only when the word did not arrive in time', () => {
    const list = createWatchlist();
    list.expect([alice]);
    expect(list.has(alice)).toBe(true);
    expect(list.takeAcks(10, 0)).toEqual([{ address: alice, watchedFrom: 10 }]);
    expect(list.takeAcks(11, 500)).toEqual([]);
    list.expect([alice]);
    expect(list.hasAcks(1_999)).toBe(false);
    expect(list.takeAcks(12, 2_000)).toEqual([{ address: alice, watchedFrom: 12 }]);
  });

  it('stops once the database says the address is acknowledged, and goes on matching it', () => {
    const list = createWatchlist();
    list.expect([alice, bob]);
    list.takeAcks(10, 0);
    list.expect([bob]);
    expect(list.takeAcks(11, 10_000)).toEqual([{ address: bob, watchedFrom: 11 }]);
    expect(list.has(alice)).toBe(true);
  });

  it('never acknowledges an address it does not match', () => {
    const list = createWatchlist();
    list.add(alice);
    expect(list.hasAcks(0)).toBe(false);
    list.expect(Array.from({ length: 12_000 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`));
    const acks = list.takeAcks(1, 0);
    expect(acks).toHaveLength(5_000);
    expect(acks.every((ack) => list.has(ack.address))).toBe(true);
    expect(list.takeAcks(2, 0)).toHaveLength(5_000);
  });
});

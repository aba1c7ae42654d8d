import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parseSanctionsList } from '#api/clients/screening/parse-list.ts';
import { openSanctionsList } from '#api/clients/screening/sanctions-list.ts';
import { anyAddress } from '#api/screening/any-address.ts';
import { codecOf } from '#shared/chains/codecs.ts';
import { createLogger, type Logger } from '#shared/platform/logger.ts';

const canonical = anyAddress([{ codec: codecOf({ family: 'evm', chainId: '31337' }) }, { codec: codecOf({ family: 'tron', chainId: 'local' }) }]);
const EVM = '0x8589427373D6D84E98730D7795D8f6f8731FDA16';
const LOWER = EVM.toLowerCase();
const OTHER = '0x722122df12d4e14e13ac3b6895a86e84145b6967';
const TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const read = (text: string) => {
  const { addresses, foreign, malformed } = parseSanctionsList(text, canonical);
  return { addresses: [...addresses].sort(), foreign, malformed: malformed.map((one) => one.line) };
};

describe('a sanctions list', () => {
  it.each([
    ['an address per line, in any case, with comments', `# OFAC, ETH\r\n${EVM}\r\n\n  ${OTHER}  # Tornado\n// end\n`, [OTHER, LOWER], 0, []],
    ['a wrong checksum: a slip of a copyist frees nobody', EVM.replace('D6D', 'd6D'), [LOWER], 0, []],
    ['another upper-case prefix', `0X${LOWER.slice(2).toUpperCase()}`, [LOWER], 0, []],
    ['addresses of chains that are not here', `${BITCOIN}\n${TRON}`, [TRON], 1, []],
    ['a mistyped one', `${LOWER}\n${OTHER.slice(0, -1)}\n${TRON.slice(0, -1)}u\nnobody`, [LOWER], 0, [2, 3, 4]],
    ['CSV: the column named address', `name,Address,asset\n"Doe, John",${EVM},ETH\n"${OTHER}",${TRON},TRX\nX,,ETH`, [TRON, LOWER], 0, [4]],
    ['CSV without a header', `ETH,${EVM}\nXBT;${BITCOIN}`, [LOWER], 1, []],
    [
      "the remarks of the Treasury's list",
      `36,"DOE","individual","Digital Currency Address - XBT ${BITCOIN}; alt. Digital Currency Address - ETH ${EVM};"`,
      [LOWER],
      0,
      [],
    ],
    ['JSON of addresses', JSON.stringify([EVM, BITCOIN, 7, 'nobody']), [LOWER], 1, [3, 4]],
    ['JSON of objects, below a name', JSON.stringify({ addresses: [{ address: EVM, name: 'x' }, { name: 'y' }] }), [LOWER], 0, [2]],
    ['a byte order mark', `\ufeff${EVM}`, [LOWER], 0, []],
    ['nothing', '', [], 0, []],
    ['half a JSON document', `[{"address":"${EVM}"`, [], 0, [1]],
  ])('%s', (_case, text, addresses, foreign, malformed) => {
    expect(read(text)).toEqual({ addresses: [...addresses].sort(), foreign, malformed });
  });

  it('is read whatever it holds, and holds nothing but canonical addresses', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(EVM, TRON, BITCOIN, ',', '\n', '"', '#', '[', '{'), fc.string())), (parts) => {
        const { addresses } = parseSanctionsList(parts.join(''), canonical);
        for (const address of addresses) expect(canonical(address)).toBe(address);
      }),
    );
  });
});

describe('the file of a sanctions list', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-list-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  const aFile = (text: string): string => {
    files += 1;
    const path = join(folder, `list-${files}.txt`);
    writeFileSync(path, text);
    return path;
  };
  const hex = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`;
  const open = (path: string) => {
    const clock = { now: 0 };
    const said: string[] = [];
    const log = new Proxy(createLogger({ component: 'test', level: 'silent' }), {
      get: (_, level) => (fields: object, message: string) => void said.push(`${String(level)}: ${message} ${JSON.stringify(fields)}`),
    }) as Logger;
    const list = openSanctionsList({ path, canonical, log, now: () => clock.now });
    return { list, said, later: () => (clock.now += 30_000) };
  };

  it('says at start how much it read and which lines it could not', () => {
    const { list, said } = open(aFile(`${EVM}\nnobody\n`));
    expect([list.size(), list.lists([LOWER]), list.lists([OTHER]), list.lists([OTHER, LOWER]), list.lists([])]).toEqual([1, true, false, true, false]);
    expect(said).toEqual([
      expect.stringMatching(/^info: sanctions list loaded .*"addresses":1/),
      expect.stringMatching(/^warn: .*"count":1,"lines":\[\{"line":2,"text":"nobody"\}\]/),
    ]);
  });

  it('stops the start when it is not there or names nobody', () => {
    expect(() => open(join(folder, 'nothing'))).toThrow(/ENOENT/);
    expect(() => open(aFile(`${BITCOIN}\n`))).toThrow('holds no address of a chain of this deployment');
  });

  it('takes effect when it changes, within half a minute', () => {
    const path = aFile(EVM);
    const { list, later } = open(path);
    writeFileSync(path, `${EVM}\n${OTHER}`);
    expect(list.lists([OTHER])).toBe(false);
    later();
    expect(list.lists([OTHER])).toBe(true);
  });

  it('stays in force when the file is gone, emptied or cut in half', () => {
    const all = Array.from({ length: 10 }, (_, index) => hex(index + 1));
    const path = aFile(all.join('\n'));
    const { list, said, later } = open(path);
    for (const text of ['', 'nonsense', all.slice(0, 4).join('\n')]) {
      writeFileSync(path, text);
      later();
      expect(list.lists([hex(9)])).toBe(true);
      expect(said.at(-1)).toMatch(/^error: sanctions list shrank/);
    }
    rmSync(path);
    later();
    expect(list.lists([hex(9)])).toBe(true);
    expect(said.at(-1)).toMatch(/^error: sanctions list cannot be read/);
    writeFileSync(path, all.slice(0, 5).join('\n'));
    later();
    expect([list.lists([hex(9)]), list.size()]).toEqual([false, 5]);
  });
});

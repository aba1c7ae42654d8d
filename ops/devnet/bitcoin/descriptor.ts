const INPUT = '0123456789()[],\'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
const CHECKSUM = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];

function step(check: bigint, value: number): bigint {
  const top = check >> 35n;
  const shifted = ((check & 0x7ffffffffn) << 5n) ^ BigInt(value);
  return GENERATOR.reduce((sum, generator, bit) => ((top >> BigInt(bit)) & 1n ? sum ^ generator : sum), shifted);
}

/** A descriptor followed by `#` and its checksum (BIP-380). */
export function withChecksum(descriptor: string): string {
  let check = 1n;
  let group = 0;
  let count = 0;
  for (const character of descriptor) {
    const position = INPUT.indexOf(character);
    if (position < 0) throw new Error(`no descriptor has a ${character}`);
    check = step(check, position & 31);
    group = group * 3 + (position >> 5);
    count += 1;
    if (count === 3) {
      check = step(check, group);
      group = 0;
      count = 0;
    }
  }
  if (count > 0) check = step(check, group);
  for (let zero = 0; zero < 8; zero += 1) check = step(check, 0);
  check ^= 1n;
  const text = Array.from({ length: 8 }, (_, at) => CHECKSUM[Number((check >> BigInt(5 * (7 - at))) & 31n)]).join('');
  return `${descriptor}#${text}`;
}

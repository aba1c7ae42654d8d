/** What a transaction weighs beside its inputs and outputs: version, lock time, and the two bytes that say it has witnesses (BIP-141). */
const FRAME_WEIGHT = 4n * (4n + 4n) + 2n;
/**
 * A P2WPKH input: the outpoint, an empty script and the sequence, four times over, and the witness of a public key and the
 * longest signature there is (72 bytes). What is signed may come out a byte or two shorter, never longer.
 */
export const INPUT_WEIGHT = 4n * 41n + 108n;
/** What nodes ask for an output to be worth relaying: three satoshis for each byte of it and of the input that would spend it. */
const DUST_PER_BYTE = 3n;
const SPENDING_BYTES = { witness: 67n, other: 148n };

/** Virtual bytes of that many P2WPKH inputs paying to these scripts (hexadecimal digits), at most. */
export function vsizeOf(inputs: number, scripts: readonly string[]): bigint {
  return (FRAME_WEIGHT + BigInt(inputs) * INPUT_WEIGHT + 4n * (countBytes(inputs) + outputBytes(scripts)) + 3n) / 4n;
}

/** The least that what is signed can come out at: signatures are hardly ever three bytes shorter than the longest. */
export function leastVsizeOf(inputs: number, scripts: readonly string[]): bigint {
  const shorter = 4n;
  return (FRAME_WEIGHT + BigInt(inputs) * (INPUT_WEIGHT - shorter) + 4n * (countBytes(inputs) + outputBytes(scripts)) + 3n) / 4n;
}

/** Smallest amount an output to this script may have, satoshis: 546 for P2PKH, 540 for P2SH, 294 for P2WPKH, 330 for P2WSH and P2TR. */
export function dustOf(script: string): bigint {
  const spending = isWitness(script) ? SPENDING_BYTES.witness : SPENDING_BYTES.other;
  return DUST_PER_BYTE * (8n + countBytes(script.length / 2) + BigInt(script.length / 2) + spending);
}

/** A version opcode and one push of 2 to 40 bytes (BIP-141). */
function isWitness(script: string): boolean {
  return /^(00|5[1-9a-f]|60)/.test(script) && script.length >= 8 && script.length <= 84 && Number.parseInt(script.slice(2, 4), 16) === script.length / 2 - 2;
}

function outputBytes(scripts: readonly string[]): bigint {
  return scripts.reduce((sum, script) => sum + 8n + countBytes(script.length / 2) + BigInt(script.length / 2), countBytes(scripts.length));
}

/** Bytes of a count as transactions write it. */
function countBytes(count: number): bigint {
  return count < 0xfd ? 1n : count <= 0xffff ? 3n : 5n;
}

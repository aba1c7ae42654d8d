/** Milliseconds of a clock that all processes of this machine share and that nobody sets. */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

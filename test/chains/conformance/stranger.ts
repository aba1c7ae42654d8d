/** The twenty bytes of an address made up for a number. */
export function strangerHex(index: number): string {
  return (0xd15ea000 + index).toString(16).padStart(40, '0');
}

declare module 'spdx-satisfies' {
  /** Whether a licence expression can be met with the approved licences alone. */
  export default function satisfies(expression: string, approved: readonly string[]): boolean;
}

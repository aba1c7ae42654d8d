/**
 * What could make a line look like something else: control characters, what reverses or hides text, line ends, tags, and
 * half surrogate pairs.
 */
const DECEIVING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u{e0000}-\u{e0fff}]|\p{Default_Ignorable_Code_Point}/gu;

/** Text that others wrote, for somebody who decides by what they read: whatever deceives the eye or a terminal is written as its code point (contract 4.3). Pure. */
export function visibleText(text: string): string {
  return text.replace(DECEIVING, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
}

import type { ComponentChild } from 'preact';
import type { Translate, Values } from './messages.ts';

/** First of the characters that stand for the elements while a message is formatted; nobody writes with them. */
const FIRST_MARK = 0xe000;
/** Elements isolate themselves; isolates around them would keep the spaces beside a block from collapsing. */
const ISOLATED_MARK = /\u2068([\uE000-\uF8FF])\u2069/g;

/**
 * A message with elements for placeholders, in the order its language wants: catalogues hold no HTML, and nothing is put
 * together from halves of sentences (ux 3). Pure.
 */
export function sentence<Key extends string>(
  translate: Translate<Key>,
  key: Key,
  elements: Readonly<Record<string, ComponentChild>>,
  values: Values = {},
): ComponentChild[] {
  const names = Object.keys(elements);
  const marks = Object.fromEntries(names.map((name, index) => [name, String.fromCharCode(FIRST_MARK + index)]));
  return translate(key, { ...values, ...marks })
    .replace(ISOLATED_MARK, '$1')
    .split(/([\uE000-\uF8FF])/)
    .map((part) => {
      const name = names[part.charCodeAt(0) - FIRST_MARK];
      return name === undefined ? part : elements[name];
    });
}

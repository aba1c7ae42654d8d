import type { JSX } from 'preact';

/**
 * A text that changes while the page is open; nothing when it is empty. A browser that translates a page puts elements of its
 * own in place of the texts, where a change of the old text is never seen: so each new one is a new element.
 * @param look class names
 */
export function Changing({ text, look }: { text: string; look?: string | undefined }): JSX.Element | null {
  if (text === '') return null;
  return (
    <span class={look} key={text}>
      {text}
    </span>
  );
}

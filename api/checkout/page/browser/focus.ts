/**
 * Draws, and moves the focus to the page's heading when it was in what the drawing removed: it would be lost to people who
 * use a keyboard or a screen reader. Anywhere else it stays where it is (ux 3).
 */
export function keepingFocus(place: HTMLElement, draw: () => void): void {
  const focused = document.activeElement;
  draw();
  const isLost = focused !== null && focused !== document.body && !focused.isConnected;
  if (isLost) place.querySelector<HTMLElement>('h1')?.focus();
}

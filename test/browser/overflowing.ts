import type { Page } from 'playwright-core';

/** What does not fit: parts that reach beyond the window's sides, and texts of which a part is cut off. One line each. */
export async function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const nameOf = (element: Element): string =>
      `<${element.localName} class="${element.getAttribute('class') ?? ''}"> ${element.textContent?.slice(0, 40) ?? ''}`;
    const found = document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} px wide`] : [];
    for (const element of document.body.querySelectorAll('*')) {
      const { left, right, width: own, height } = element.getBoundingClientRect();
      // What only screen readers get is one pixel, whatever is cut off of it.
      if (own <= 1 || height <= 1 || element.closest('svg, .hidden-visually') !== null) continue;
      if (left < -0.5 || right > width + 0.5) found.push(`outside: ${nameOf(element)}`);
      const hides = getComputedStyle(element).overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1;
      if (hides && element.localName !== 'select') found.push(`clipped: ${nameOf(element)}`);
    }
    return found;
  });
}

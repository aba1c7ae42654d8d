import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contrastRatio, isHexColour, judgeAccent } from '#shared/core/accent.ts';

const HUES = ['#000000', '#ffffff', '#ff0000', '#00ff00', '#0000ff', '#ffff00', '#808080', '#1f5f4a', '#7fd3b2', '#e5a50a', '#613583'];

describe('an accent', () => {
  it('has the contrast that WCAG says', () => {
    expect(contrastRatio('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrastRatio('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });

  it.each(HUES)('%s is shown so that words in it, on it and on its wash can be read, in both schemes', (hue) => {
    for (const [scheme, card, ground] of [
      ['light', '#ffffff', '#f3f5f3'],
      ['dark', '#161e1b', '#0e1412'],
    ] as const) {
      const { accent, strong, on, wash } = judgeAccent(hue, scheme);
      for (const [one, other] of [
        [accent, card],
        [accent, ground],
        [accent, wash],
        [accent, on],
        [strong, on],
      ] as const)
        expect([hue, scheme, one, other, contrastRatio(one, other) >= 4.5]).toEqual([hue, scheme, one, other, true]);
      for (const colour of [accent, strong, on, wash]) expect(isHexColour(colour)).toBe(true);
    }
  });

  it('that can be read stays as it is, and one that cannot is said to be another shade', () => {
    expect(judgeAccent('#1f5f4a', 'light')).toMatchObject({ accent: '#1f5f4a', corrected: false });
    expect(judgeAccent('#ffff00', 'light')).toMatchObject({ corrected: true, contrast: 1 });
    expect(judgeAccent('#ffff00', 'dark')).toMatchObject({ accent: '#ffff00', corrected: false });
  });

  it('is measured against the grounds that the stylesheets have', () => {
    const css = readFileSync('api/page/styles/base.css', 'utf8');
    for (const token of ['--ground: #f3f5f3', '--card: #ffffff', '--ground: #0e1412', '--card: #161e1b']) expect(css).toContain(token);
  });

  it.each(['red', '#fff', '#FF0000', '#12345g', '#123456;}', 'url(x)', '#1234567'])('is no %s', (text) => {
    expect(isHexColour(text)).toBe(false);
  });
});

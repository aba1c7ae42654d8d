import { describe, expect, it } from 'vitest';
import { metadataLines } from '#api/operator/approver-view.ts';
import { SentJson } from '#shared/core/sent-json.ts';

describe('what an approver reads of a cashout', () => {
  it('begins with who asked for it, whatever the keys are called, and leaves nothing out', () => {
    const lines = metadataLines(new SentJson('{"1":"x","zeta":null,"about":"rent","requester":"ada","amount":12345678901234567890,"urgent":true}'));
    expect(lines.map((line) => line.key)).toEqual(['requester', '1', 'about', 'amount', 'urgent', 'zeta']);
    expect(lines.map((line) => line.value)).toEqual(['ada', 'x', 'rent', '12345678901234567890', 'true', 'null']);
    expect(metadataLines(null)).toEqual([]);
  });

  it.each([
    ['a terminal escape', '\u001b[2Jada', '\\u{1b}[2Jada'],
    ['line ends', 'ada\nrequester: bob\r\u2028', 'ada\\u{a}requester: bob\\u{d}\\u{2028}'],
    ['text turned around', '\u202eada\u2066', '\\u{202e}ada\\u{2066}'],
    ['text that does not show', 'a\u200bd\u00ada\ufeff\u{e0041}', 'a\\u{200b}d\\u{ad}a\\u{feff}\\u{e0041}'],
    ['ordinary letters of any language', 'Añé 名前 — 5 €', 'Añé 名前 — 5 €'],
  ])('shows %s for what it is, in keys and in values', (_name, sent, shown) => {
    expect(metadataLines(SentJson.of({ [sent]: sent }))).toEqual([{ key: shown, value: shown }]);
  });
});

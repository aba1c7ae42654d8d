import { readWaitReason } from '#shared/core/wait-reasons.ts';
import type { Translate } from './texts.ts';

/** What a limit counts, as its reason tells it, by the case of its text. */
const SCOPES: Readonly<Record<string, string>> = { ' for the native coin': 'native', ' for tokens': 'tokens' };

/** Why a cashout waits, in the reader's language; what has no name among the reasons is a sentence of the service, which is English. Pure. */
export function sayWaitReason(t: Translate, text: string): { text: string; english: boolean } {
  const known = readWaitReason(text);
  if (known === undefined) return { text: text.replaceAll('_', ' '), english: true };
  const { reason, scope } = known.values;
  return {
    text: t(`wait.${known.name}`, {
      ...known.values,
      ...(reason !== undefined && { reason: sayWaitReason(t, reason).text }),
      ...(scope !== undefined && { scope: SCOPES[scope] ?? 'all' }),
    }),
    english: false,
  };
}

import { escapeHtml } from '../escape.ts';
import type { Operation } from './contract.ts';
import type { Call } from './samples.ts';

/**
 * The form that sends an operation to this deployment from the reader's tab. It is there for programs only: without one nothing could be sent, so the style hides it. What is typed
 * has no names, so that no browser sends or keeps it, and nothing can be pressed before the script is there. Pure.
 * @param program address of the script that makes it work
 */
export function drawTryForm(program: string, root: string, { method, path, parameters, scheme, body, id }: Operation, { body: example }: Call): string {
  const field = (label: string, attributes: string): string =>
    `<label>${label}<input ${attributes} autocomplete="off" autocapitalize="off" spellcheck="false"></label>`;
  const asked = parameters
    .filter(({ in: place }) => place !== 'header')
    .map(({ in: place, name, required = false }) =>
      field(`<code>${escapeHtml(name)}</code>`, `data-place="${place}" data-name="${escapeHtml(name)}"${required || place === 'path' ? ' required' : ''}`),
    );
  const idempotent = parameters.some(({ in: place, name }) => place === 'header' && name.toLowerCase() === 'idempotency-key');
  const proofs = [
    ...(scheme === 'none' ? [] : [field('API key', 'type="password" data-proof="key" required')]),
    ...(scheme === 'signedRequest' ? [field('Cashout signing secret', 'type="password" data-proof="secret" required')] : []),
  ];
  const text = body === undefined ? '' : `<label>Body<textarea data-body rows="8" spellcheck="false">${escapeHtml(pretty(example))}</textarea></label>`;
  const sign = scheme === 'signedRequest' ? '<button type="button" class="button" data-only-sign disabled>Only sign</button>' : '';
  return `<details class="try" id="try-it" data-program="${program}" data-method="${method}" data-path="${escapeHtml(root + path)}"${idempotent ? ' data-idempotent' : ''}>
<summary>Try it</summary>
<form aria-label="Try ${escapeHtml(id)}">
<p class="hint">This sends a real request to this deployment, from this tab. Key and secret stay in the tab, and are gone when you leave the page.</p>
${[...proofs, ...asked].join('\n')}
${text}
<p class="buttons"><button type="submit" class="button" disabled>Send ${escapeHtml(method)}</button>${sign}</p>
<div role="status"></div>
</form>
</details>`;
}

function pretty(json: string): string {
  return json === '' ? '' : JSON.stringify(JSON.parse(json), null, 2);
}

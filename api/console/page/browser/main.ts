import { enhance } from './enhance.ts';
import { followChanges } from './follow-changes.ts';
import { equipPasskeyForms } from './passkey-forms.ts';

// The only program of the console's pages: a form that needs a passkey asks for it before it is sent; moments are told in the reader's zone; what is shortened can be
// copied whole; what changes by itself is read again when it did; `/` and Ctrl+K lead to the search.

document.documentElement.dataset.program = '';
equipPasskeyForms(document);
enhance(document);
followChanges((main) => {
  equipPasskeyForms(main);
  enhance(main);
});

// One key leads to the search from anywhere but a field, and one with Ctrl from there too.
document.addEventListener('keydown', (event) => {
  const [target, held] = [event.target as HTMLElement, event.ctrlKey || event.metaKey];
  const asked = held ? event.key === 'k' : event.key === '/' && target.closest('input, select, textarea') === null;
  if (!asked || event.altKey) return;
  const search = document.querySelector<HTMLInputElement>('input[name="q"][type="search"]');
  if (search === null) return;
  event.preventDefault();
  search.select();
});

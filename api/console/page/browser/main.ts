import { enhance } from './enhance.ts';
import { followChanges } from './follow-changes.ts';
import { equipPasskeyForms } from './passkey-forms.ts';

// The only program of the console's pages: a form that needs a passkey asks for it before it is sent; moments are told in the reader's zone; what is shortened can be
// copied whole; what changes by itself is read again when it did; `/` leads to the search.

document.documentElement.dataset.program = '';
equipPasskeyForms(document);
enhance(document);
followChanges((main) => {
  equipPasskeyForms(main);
  enhance(main);
});

// One key leads to the search from anywhere but a field.
document.addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement;
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea') !== null) return;
  const search = document.querySelector<HTMLInputElement>('input[name="q"][type="search"]');
  if (search === null) return;
  event.preventDefault();
  search.select();
});

// What a script adds to the documentation; every page reads the same without it. It keeps one thing, the language last
// chosen, in this browser, and sends nothing anywhere.

const CHOICE = 'sluice-docs-language';
/** Where the examples say the API is; a reader sees the one that shows this page. */
const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000';

for (const code of document.querySelectorAll('.code code')) {
  if (code.textContent.includes(EXAMPLE_ORIGIN)) code.textContent = code.textContent.replaceAll(EXAMPLE_ORIGIN, location.origin);
}

for (const block of document.querySelectorAll('.code')) addCopyButton(block);
for (const group of document.querySelectorAll('.languages')) addChoices(group);
choose(remembered());

// On a narrow screen the list of pages would hide the page.
if (matchMedia('(max-width: 52rem)').matches) document.querySelector('nav.pages details').open = false;

function addCopyButton(block) {
  if (navigator.clipboard === undefined) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  block.append(button);
}

function addChoices(group) {
  const choices = document.createElement('div');
  choices.className = 'choices';
  for (const { dataset } of group.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.language = dataset.language;
    button.textContent = dataset.label;
    button.addEventListener('click', () => {
      remember(dataset.language);
      choose(dataset.language);
    });
    choices.append(button);
  }
  group.classList.add('chosen');
  group.before(choices);
}

/** Shows one language in every group; the first one where a group does not have it. */
function choose(language) {
  for (const group of document.querySelectorAll('.languages')) {
    const blocks = [...group.querySelectorAll('.code')];
    const shown = blocks.find((block) => block.dataset.language === language) ?? blocks[0];
    for (const block of blocks) block.hidden = block !== shown;
    for (const button of group.previousElementSibling.children) button.setAttribute('aria-pressed', String(button.dataset.language === shown.dataset.language));
  }
}

function remembered() {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

function remember(language) {
  try {
    localStorage.setItem(CHOICE, language);
  } catch {
    // A browser that keeps nothing shows the first language of each group.
  }
}

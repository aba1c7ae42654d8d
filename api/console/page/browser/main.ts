import { startAuthentication, startRegistration } from '@simplewebauthn/browser';

// The only program of the console's pages: a form that needs a passkey asks for it before it is sent; moments are told in the reader's zone; what is shortened can be
// copied whole; `/` leads to the search.

document.documentElement.dataset.program = '';

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]'))
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void answer(form);
  });

async function answer(form: HTMLFormElement): Promise<void> {
  const button = form.querySelector('button');
  const problem = form.querySelector<HTMLElement>('[data-part="passkey-problem"]');
  const field = form.querySelector<HTMLInputElement>('input[name="credential"]');
  if (button === null || problem === null || field === null) return;
  problem.hidden = true;
  button.disabled = true;
  try {
    const asked = await fetch(`${form.action}/options`, { method: 'POST' });
    if (!asked.ok) throw new Error(asked.status === 429 ? 'Too many attempts: wait a minute.' : 'This page is too old: open it again.');
    const optionsJSON = await asked.json();
    const credential = form.dataset.passkey === 'get' ? await startAuthentication({ optionsJSON }) : await startRegistration({ optionsJSON });
    field.value = JSON.stringify(credential);
    form.submit();
  } catch (error) {
    const { name, message } = error as Error;
    problem.textContent =
      name === 'InvalidStateError'
        ? 'This device has a passkey of yours already.'
        : name === 'NotAllowedError'
          ? 'No passkey was given. Try again when you are ready.'
          : message;
    problem.hidden = false;
    button.disabled = false;
    button.focus();
  }
}

// Moments come in UTC; whoever reads them gets their own zone, and UTC when pointing at one.
const thisYear = new Date().getFullYear();

for (const moment of document.querySelectorAll<HTMLTimeElement>('time[data-moment]')) {
  const at = new Date(moment.dateTime);
  const day = { day: 'numeric', month: 'short', ...(at.getFullYear() !== thisYear && { year: 'numeric' as const }) } as const;
  const clock = { hour: '2-digit', minute: '2-digit' } as const;
  const shown = { minute: { ...day, ...clock }, day, time: { ...clock, second: '2-digit' } as const }[moment.dataset.moment ?? ''];
  moment.title = `${moment.dateTime.slice(0, 19).replace('T', ' ')} UTC`;
  moment.textContent = at.toLocaleString('en-GB', shown);
}

// A day is said once, and days begin elsewhere in another zone.
let said = '';
for (const day of document.querySelectorAll<HTMLElement>('.event-day')) {
  day.hidden = day.textContent === said;
  said = day.textContent ?? '';
}

for (const button of document.querySelectorAll<HTMLElement>('[data-copy]'))
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(button.dataset.copy ?? '').then(() => {
      for (const other of document.querySelectorAll('.copied')) other.classList.remove('copied');
      button.classList.add('copied');
    });
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

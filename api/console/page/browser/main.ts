import { startAuthentication, startRegistration } from '@simplewebauthn/browser';

// The only program of the console's pages: a form that needs a passkey asks for it before it is sent; moments are told in the reader's zone; what is shortened can be
// copied whole; `/` leads to the search.

document.documentElement.dataset.program = '';

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]'))
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void answer(form);
  });

/** What the page's own host wants to have signed. @throws Error named after one of the page's words */
async function asked(path: string, body?: URLSearchParams): Promise<never> {
  const answer = await fetch(path, { method: 'POST', ...(body && { body }) });
  if (!answer.ok) throw new Error(answer.status === 429 ? 'busy' : 'tooOld');
  return (await answer.json()) as never;
}

async function answer(form: HTMLFormElement): Promise<void> {
  const button = form.querySelector('button');
  const problem = form.querySelector<HTMLElement>('[data-part="passkey-problem"]');
  const field = form.querySelector<HTMLInputElement>('input[name="credential"]');
  const proof = form.querySelector<HTMLInputElement>('input[name="proof"]');
  const code = form.querySelector<HTMLInputElement>('input[name="code"]');
  if (button === null || problem === null) return;
  problem.hidden = true;
  button.disabled = true;
  try {
    if (form.dataset.passkey === 'get' && field !== null)
      field.value = JSON.stringify(await startAuthentication({ optionsJSON: await asked(`${form.action}/options`) }));
    // One that was made already waits for the signature of an older one.
    else if (field?.value === '') field.value = JSON.stringify(await startRegistration({ optionsJSON: await asked(`${form.action}/options`) }));
    // Where a code was typed in it is the proof.
    if (proof !== null && !code?.value) {
      // What is agreed to is what the form says.
      const said = [...new FormData(form)].filter((one): one is [string, string] => typeof one[1] === 'string' && one[0] !== 'proof');
      const optionsJSON = await asked(`${form.action}/proof`, new URLSearchParams(said));
      proof.value = JSON.stringify(await startAuthentication({ optionsJSON }));
    }
    form.submit();
  } catch (error) {
    const { name, message } = error as Error;
    const why =
      name === 'InvalidStateError'
        ? 'hasOne'
        : name !== 'NotAllowedError'
          ? message
          : proof !== null && field !== null && field.value !== ''
            ? 'confirm'
            : 'noneGiven';
    // The page brought the words along, in its language; for what a browser says it has none.
    problem.textContent = problem.dataset[why] ?? problem.dataset.failed ?? '';
    problem.hidden = false;
    button.disabled = false;
    button.focus();
  }
}

// Moments come in UTC; whoever reads them gets their own zone, and UTC when pointing at one.
const language = document.documentElement.lang;
const thisYear = new Date().getFullYear();

for (const moment of document.querySelectorAll<HTMLTimeElement>('time[data-moment]')) {
  const at = new Date(moment.dateTime);
  const day = { day: 'numeric', month: 'short', ...(at.getFullYear() !== thisYear && { year: 'numeric' as const }) } as const;
  const clock = { hour: '2-digit', minute: '2-digit' } as const;
  const shown = { minute: { ...day, ...clock }, day, time: { ...clock, second: '2-digit' } as const }[moment.dataset.moment ?? ''];
  moment.title = `${moment.dateTime.slice(0, 19).replace('T', ' ')} UTC`;
  moment.textContent = at.toLocaleString(language === 'en' ? 'en-GB' : language, shown);
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

import { startAuthentication, startRegistration } from '@simplewebauthn/browser';

// The only program of the console's pages: a form that needs a passkey asks for it before it is sent.

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

import { startAuthentication, startRegistration } from '@simplewebauthn/browser';

/** Lets forms that need a passkey ask for it before they are sent. */
export function equipPasskeyForms(root: ParentNode): void {
  for (const form of root.querySelectorAll<HTMLFormElement>('form[data-passkey]'))
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void answer(form);
    });
}

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

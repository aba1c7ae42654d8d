import type { Page } from 'playwright-core';
import { invitePerson } from '#api/people/invitations.ts';
import type { Deps } from '#api/deps.ts';

/** Gives a tab an authenticator whose user says yes, until they are told to be away. */
export async function givePasskeys(page: Page, transport: 'internal' | 'usb' = 'internal'): Promise<{ present(is: boolean): Promise<void> }> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { present: async (enabled) => void (await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })) };
}

/** Accepts an invitation with a passkey of the tab, and waits for the page of the person's places. */
export async function acceptInvitation(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: /passkey/ }).click();
  await page.locator('main[data-screen="places"]').waitFor();
}

/** Invites somebody and has them come in, in this tab, with a new passkey. */
export async function comeIn(
  page: Page,
  origin: string,
  deps: Pick<Deps, 'db' | 'randomBytes'>,
  person: { email: string; gatewayId: string | null; role: string },
): Promise<void> {
  await givePasskeys(page);
  const { token } = await invitePerson(deps, { ...person, by: { kind: 'command', name: 'root@host' } });
  await acceptInvitation(page, `${origin}/invitations/${token}`);
}

/** Does what leads to another page and waits until that one is loaded: what is asked for before it came would be interrupted by it. */
export async function arrive(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForEvent('framenavigated', (frame) => frame === page.mainFrame()), act()]);
  await page.waitForLoadState('load');
}

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Act, hashAct, proveStepUp, stepUpOptions } from '#api/people/step-up.ts';
import type { Session } from '#api/store/sessions.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aConsoleStage, type ConsoleStage } from '#test/harness/console-stage.ts';
import { comeIn } from './passkey.ts';

const ACT: Act = { name: 'settlement.approve', gatewayId: null, target: 's1', content: { asset: 'USDT', amount: '100', destination: '0x1' } };
const REFUSED = { code: 'forbidden' };

describeInBrowser('a step-up', (open) => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await aConsoleStage();
  });
  afterAll(() => stage?.stop());

  /** Somebody with a passkey, and the session they are in. */
  const somebody = async (email: string): Promise<{ page: Page; session: Session }> => {
    const { page } = await open();
    await comeIn(page, stage.origin, stage.deps, { email, gatewayId: stage.gatewayId, role: 'owner' });
    const [session] = await stage.database.sql<[Session]>`
      select s.id, s.person_id, p.email from sessions s join people p on p.id = s.person_id where p.email = ${email} and s.ended_at is null`;
    return { page, session };
  };
  /** What a person's browser answers to these options. */
  const sign = (page: Page, options: object): Promise<string> =>
    page.evaluate(async (json) => {
      const bytes = (text: string) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
      const text = (buffer: ArrayBuffer) =>
        btoa(String.fromCharCode(...new Uint8Array(buffer)))
          .replaceAll('+', '-')
          .replaceAll('/', '_')
          .replaceAll('=', '');
      const asked = json as { challenge: string; rpId: string; allowCredentials: { id: string }[] };
      const key = (await navigator.credentials.get({
        publicKey: {
          challenge: bytes(asked.challenge),
          rpId: asked.rpId,
          userVerification: 'required',
          allowCredentials: asked.allowCredentials.map(({ id }) => ({ id: bytes(id), type: 'public-key' as const })),
        },
      })) as PublicKeyCredential;
      const response = key.response as AuthenticatorAssertionResponse;
      return JSON.stringify({
        id: key.id,
        rawId: key.id,
        type: key.type,
        clientExtensionResults: {},
        response: { clientDataJSON: text(response.clientDataJSON), authenticatorData: text(response.authenticatorData), signature: text(response.signature) },
      });
    }, options);
  const prove = (session: Session, act: Act, credential: string) => proveStepUp(stage.deps, session, { act, credential });

  it('lets one act through, once: neither again, nor for another act, session or person', async () => {
    const { page, session } = await somebody('anna@example.com');
    const other = await somebody('ben@example.com');
    const fresh = async (act = ACT, of = session) => sign(page, await stepUpOptions(stage.deps, of, act));

    const credential = await fresh();
    await prove(session, ACT, credential);
    await expect(prove(session, ACT, credential), 'replayed').rejects.toMatchObject(REFUSED);
    for (const content of [{ amount: '101' }, { destination: '0x2' }, { asset: 'BTC' }, { more: true }] as const)
      await expect(prove(session, { ...ACT, content: { ...ACT.content, ...content } }, await fresh()), JSON.stringify(content)).rejects.toMatchObject(REFUSED);
    for (const changed of [{ name: 'settlement.reject' }, { target: 's2' }, { gatewayId: stage.gatewayId }])
      await expect(prove(session, { ...ACT, ...changed }, await fresh()), JSON.stringify(changed)).rejects.toMatchObject(REFUSED);
    await expect(prove({ ...session, id: other.session.id }, ACT, await fresh()), 'another session').rejects.toMatchObject(REFUSED);
    const theirs = await sign(other.page, await stepUpOptions(stage.deps, other.session, ACT));
    await expect(prove(session, ACT, theirs), 'another person').rejects.toMatchObject(REFUSED);
  });

  it('counts once also when it is sent twice at the same moment', async () => {
    const { page, session } = await somebody('cleo@example.com');
    const credential = await sign(page, await stepUpOptions(stage.deps, session, ACT));
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => prove(session, ACT, credential)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is bound by what was signed, and not by a row alone: a row that is turned to another act helps nobody', async () => {
    const { page, session } = await somebody('dora@example.com');
    const credential = await sign(page, await stepUpOptions(stage.deps, session, ACT));
    const other: Act = { ...ACT, content: { ...ACT.content, amount: '1000000' } };
    await stage.database.sql`update passkey_challenges set subject = ${`${session.id}:${hashAct(other)}`} where subject = ${`${session.id}:${hashAct(ACT)}`}`;
    await expect(prove(session, other, credential)).rejects.toMatchObject(REFUSED);
  });

  it('does not count after five minutes, nor by a passkey that was removed', async () => {
    const { page, session } = await somebody('eli@example.com');
    const late = await sign(page, await stepUpOptions(stage.deps, session, ACT));
    await stage.database.sql`update passkey_challenges set expires_at = now() - interval '1 second'`;
    await expect(prove(session, ACT, late)).rejects.toMatchObject(REFUSED);
    const removed = await sign(page, await stepUpOptions(stage.deps, session, ACT));
    await stage.database.sql`update passkeys set removed_at = now() where person_id = ${session.personId}`;
    await expect(prove(session, ACT, removed)).rejects.toMatchObject(REFUSED);
  });
});

import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { POLICY } from '#shared/core/policy.ts';
import type { Answer } from './client.ts';
import { describeOperation } from './describe-operation.ts';
import { EXAMPLES, type Example } from './examples.ts';

const codeOf = ({ status, error }: Answer): [number, string | undefined] => [status, error?.code];
/** Six digits that are not the example's. */
const other = ({ body }: Example): Record<string, unknown> => ({ totpCode: body?.totpCode === '111111' ? '222222' : '111111' });

describeOperation('approveSettlement', {
  200: ({ example, send, shop }) => {
    it('answers the cashout REQUESTED, otherwise as it was created (contract 4.3)', async () => {
      const known = await example();
      const path = `/merchant/settlements/${known.params?.settlementId}`;
      const before = (await shop.signed('GET', path)).data;
      expect(before.status).toBe('PENDING_APPROVAL');
      const { status, data } = await send(known);
      expect([status, data]).toEqual([200, { ...before, status: 'REQUESTED', dispatchAt: expect.any(String) }]);
      expect((await shop.signed('GET', path)).data).toEqual(data);
    });

    it('replays the approval for its key and body, though the code was used up by it', async () => {
      const known = await example();
      const first = await send({ ...known, idempotencyKey: 'approve once' });
      const again = await send({ ...known, idempotencyKey: 'approve once' });
      expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([null, 'true']);
      expect([again.status, again.text]).toEqual([200, first.text]);
    });

    it('keeps a key of its own: that of the create means nothing here', async () => {
      const known = await example();
      const created = await shop.signed('POST', `/merchant/settlements/${known.params?.settlementId}/cancel`, { idempotencyKey: 'shared' });
      expect(codeOf(created)).toEqual([409, 'conflict']);
      const { status, headers } = await send({ ...known, idempotencyKey: 'shared' });
      expect([status, headers.get('idempotency-replayed')]).toEqual([200, null]);
    });
  },
  401: ({ service, shop, example, send }) => {
    it('refuses a wrong code, keeps nothing under the key, and takes the right one with it', async () => {
      const known = await example();
      for (let times = 0; times < 2; times++)
        expect(codeOf(await send({ ...known, body: other(known), idempotencyKey: 'guess' }))).toEqual([401, 'totp_required']);
      expect((await send({ ...known, idempotencyKey: 'guess' })).data.status).toBe('REQUESTED');
    });

    it('refuses a code that approved another cashout', async () => {
      const first = await example();
      // The first code approves, and is then brought for a second cashout of the same authenticator.
      expect((await send(first)).status).toBe(200);
      const second = { ...(await EXAMPLES.getSettlement(service, shop)), body: first.body ?? {} };
      expect(codeOf(await send(second))).toEqual([401, 'totp_required']);
    });
  },
  403: ({ service, send, anotherShop }) => {
    it('says that nobody enrolled an authenticator, before it looks at the state or the code', async () => {
      const bare = await anotherShop();
      const { params = {} } = await EXAMPLES.getSettlement(service, bare);
      expect(codeOf(await send({ params, body: { totpCode: '123456' }, from: bare }))).toEqual([403, 'totp_not_enrolled']);
    });
  },
  404: ({ send, anotherShop }) => {
    it('comes before the question whether anybody enrolled', async () => {
      expect(codeOf(await send({ params: { settlementId: randomUUID() }, body: { totpCode: '123456' }, from: await anotherShop() }))).toEqual([
        404,
        'not_found',
      ]);
    });
  },
  409: ({ example, send }) => {
    it('conflicts with one that was approved already, whatever the code', async () => {
      const known = await example();
      expect((await send(known)).status).toBe(200);
      for (const body of [known.body ?? {}, other(known)]) expect(codeOf(await send({ ...known, body }))).toEqual([409, 'conflict']);
    });
  },
  422: ({ send, anotherShop }) => {
    it.each(['12345', '1234567', '12345a', ' 123456', '12 456', '１２３４５６', '', 123_456, null, undefined])(
      'names totpCode in %j, before anything else is looked at',
      async (totpCode) => {
        const answer = await send({ params: { settlementId: randomUUID() }, body: { totpCode }, from: await anotherShop() });
        expect(codeOf(answer)).toEqual([422, 'validation_error']);
        expect(answer.error.message).toMatch(/^totpCode: /);
      },
    );
  },
  429: ({ example, send, anotherShop }) => {
    it('locks after five wrong codes, also for the right one, and says for how long', async () => {
      const guessed = await anotherShop();
      const known = { ...(await example(guessed)), from: guessed };
      for (let guesses = 0; guesses < POLICY.totpFailuresUntilLock; guesses++)
        expect(codeOf(await send({ ...known, body: other(known) }))).toEqual([401, 'totp_required']);
      const answer = await send(known);
      expect(codeOf(answer)).toEqual([429, 'rate_limit_exceeded']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(POLICY.totpLockSeconds - 60);
    });
  },
});

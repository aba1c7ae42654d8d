import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, newKey } from '#ops/dev/client.ts';
import { aScene, OUTSIDER, type Scene } from './scene.ts';

const run = promisify(execFile);

describe('a cashout against the running deployables', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene();
    const payment = await scene.open('USDT', { amount: '40' });
    await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
    await scene.balance('USDT', '30');
  });
  afterAll(() => scene?.stop());

  it('signed with openssl, word for word as the documentation shows, is accepted and settles', async () => {
    const block = /^BODY=.*\n^SIGNATURE=.*$/m.exec(await readFile('ops/docs/by-hand.md', 'utf8'))?.[0] ?? '';
    const script = block.replace('<id>', await scene.assetId('USDT'));
    const { stdout } = await run('bash', ['-c', `${script}\nprintf '%s\\n' "$NOW" "$SIGNATURE" "$BODY"`], {
      env: { ...process.env, SECRET: scene.shop.gateway.cashoutSigningSecret },
    });
    const [now = '', signature = '', rawBody = ''] = stdout.split('\n');
    const headers = { 'x-api-key': scene.shop.gateway.apiKey, 'x-timestamp': now, 'x-signature': signature, 'idempotency-key': `cashout-${now}` };
    const answer = await call(`${scene.api.baseUrl}/merchant/settlements`, 'POST', { rawBody, headers });
    expect(answer, answer.text).toMatchObject({ status: 200, data: { status: 'REQUESTED', amount: '5' } });
    const settled = await scene.settled(answer.data.id as string);
    expect(settled.receivedAmount).toBe(settled.netAmount);

    const forged = await call(`${scene.api.baseUrl}/merchant/settlements`, 'POST', { rawBody: rawBody.replace('"5"', '"6"'), headers });
    expect(forged).toMatchObject({ status: 401, error: { code: 'signature_invalid' } });
  });

  it('asked for 200 times at once under one Idempotency-Key is one settlement, paid once', async () => {
    const body = { assetId: await scene.assetId('USDT'), amount: '25', address: OUTSIDER };
    const ask = { idempotencyKey: newKey(), timestamp: Math.floor(Date.now() / 1_000), body };
    const total = async () => ((await scene.shop.signed('GET', '/merchant/settlements?limit=1')).data as { pagination: { total: number } }).pagination.total;
    const before = await total();
    const answers = await Promise.all(Array.from({ length: 200 }, () => scene.shop.signed('POST', '/merchant/settlements', ask)));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1);
    expect(await total()).toBe(before + 1);
    const settled = await scene.settled(answers[0]?.data.id as string);
    expect(await scene.world.chain.tokenBalance(scene.world.chain.tokens.USDT, OUTSIDER)).toBe(BigInt(Math.round(Number(settled.netAmount) * 1e6)));
  });
});

import { expect } from 'vitest';
import { type Caller, callerOf, type Credentials, type Listening } from '#test/contract/service.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';

/** A merchant's server; every answer it gets is held against the contract. */
export type Front = Caller & Credentials;

const HERE = ['127.0.0.1', '::1'];

/** Opens one with a gateway of its own at an http side that listens. */
export async function openFront({ ask }: Listening): Promise<Front> {
  const made = await ask('POST', '/operator/v1/gateways', {
    headers: { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` },
    body: { name: 'Under Load', apiAllowlist: HERE, cashout: { enabled: true, allowlist: HERE } },
  });
  expect(made.status, made.text).toBe(201);
  const { gateway, apiKey, cashoutSigningSecret } = made.data as { gateway: { id: string }; apiKey: string; cashoutSigningSecret: string };
  const credentials: Credentials = { id: gateway.id, apiKey, cashoutSecret: cashoutSigningSecret };
  return { ...credentials, ...callerOf(ask, credentials) };
}

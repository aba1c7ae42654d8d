import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

const PRESENT_AND_VERIFIED = 0x05;
const WITH_A_KEY = 0x40;

/** An authenticator in this process, with one passkey and a user who says yes: what a browser sends of it, without a browser. */
export interface SoftPasskey {
  id: string;
  /** What its browser answers to options to make it. */
  create(options: object): string;
  /** What its browser answers to options to sign with it. */
  sign(options: object): string;
}

/** Makes one for the pages of an origin. */
export function softPasskey(origin: string): SoftPasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rawId = randomBytes(16);
  const id = rawId.toString('base64url');
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const client = (type: 'webauthn.create' | 'webauthn.get', options: object): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge: (options as { challenge: string }).challenge, origin, crossOrigin: false }));
  const authenticatorData = (flags: number): Buffer =>
    Buffer.concat([createHash('sha256').update(new URL(origin).hostname).digest(), Buffer.from([flags, 0, 0, 0, 0])]);
  const answer = (response: Record<string, Uint8Array>): string =>
    JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: Object.fromEntries(Object.entries(response).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64url')])),
    });
  return {
    id,
    create(options) {
      const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, rawId.length]), rawId, isoCBOR.encode(key)]);
      const authData = Buffer.concat([authenticatorData(PRESENT_AND_VERIFIED | WITH_A_KEY), credential]);
      const attestationObject = isoCBOR.encode(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', new Uint8Array(authData)],
        ]) as never,
      );
      return answer({ clientDataJSON: client('webauthn.create', options), attestationObject });
    },
    sign(options) {
      const clientDataJSON = client('webauthn.get', options);
      const data = authenticatorData(PRESENT_AND_VERIFIED);
      const signature = sign('sha256', Buffer.concat([data, createHash('sha256').update(clientDataJSON).digest()]), privateKey);
      return answer({ clientDataJSON, authenticatorData: data, signature });
    },
  };
}

/**
 * Prefix of a reason from the signer's own memory not to sign yet: a proof is missing, or a cap is used up. That may last a day or need a person,
 * so no other payout of the wallet waits for it.
 */
export const REMEMBERED = 'the signer remembers: ';

/**
 * The prefix of a reason from the signer's own memory for which it does not sign yet: a proof is missing, or a cap is used up. The reason may last a
 * day, or take a person, so no other payout of the wallet waits for it.
 */
export const REMEMBERED = 'the signer remembers: ';

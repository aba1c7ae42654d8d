/**
 * How a reason begins for which the signer does not sign yet, out of its own memory: a proof that is missing, a cap that is used up. It may last a day, or
 * take a person, so that nothing else of the wallet waits for it.
 */
export const REMEMBERED = 'the signer remembers: ';

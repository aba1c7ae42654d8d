/** Where an identity provider sends browsers back to, at the console. */
export const PROVIDER_CALLBACK = '/sign-in/provider/callback';

/** The account every local TRON chain begins with: rich in TRX and tokens, and its key known to the world. */
export const TRON_FAUCET = {
  address: 'TVs2JJFsHKpEW1SbQmMk4Zc4iUH3EZTZnq',
  privateKey: '9fb510858125c0b2f05742387b3f8b1ed6150db7b81b51cb67f732f0b8f30be3',
};

/** TRC-20 contracts every local TRON chain begins with. USDT returns 32 zero bytes on success as the real one does, USDC true. */
export const DEMO_TRON_TOKENS = {
  USDT: 'TLDt4uotkqEReGwHwfq773JuExqj5uijjp',
  USDC: 'TLgLYsFxnLio4pW8E5s2WvQA1iKn1ozG6f',
};

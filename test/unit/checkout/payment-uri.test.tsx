import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { alternativePayload, type Payable, qrPayload } from '#api/checkout/page/payment-uri.ts';
import { QrCode } from '#api/page/qr.tsx';
import type { NetworkFacts } from '#api/checkout/page/snapshot.ts';
import { type WalletLink, walletLinks } from '#api/checkout/page/wallet-links.ts';
import { readRenderedQr } from '#test/fixtures/rendered-qr.ts';

const PAYEE = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const TRON_PAYEE = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const BECH32 = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const BASE58 = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const BSC_USDT = '0x55d398326f99059fF775485246999027B3197955';
const TRON_USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const METAMASK = 'https://link.metamask.io/send';
const TRUST = 'https://link.trustwallet.com/send';

const network = (family: NetworkFacts['family'], chainId: string, nativeSymbol: string): NetworkFacts => ({
  displayName: 'X',
  family,
  chainId,
  nativeSymbol,
  expectedSeconds: null,
});
const ethereum = network('evm', '1', 'ETH');
const bsc = network('evm', '56', 'BNB');
const tron = network('tron', 'mainnet', 'TRX');
const bitcoin = network('bitcoin', 'mainnet', 'BTC');

const payable = (over: Partial<Payable>): Payable => ({ assetType: 'NATIVE', assetDecimals: 18, contractAddress: null, totalValue: '1', ...over });
const btc = (depositAddress: string) => payable({ assetDecimals: 8, totalValue: '0.00044007', depositAddress });
const eth = payable({ totalValue: '0.02014', depositAddress: PAYEE });
const usdt = payable({ assetType: 'ERC20', assetDecimals: 6, contractAddress: USDT, totalValue: '20.14', depositAddress: PAYEE });
const bep20 = payable({ assetType: 'BEP20', contractAddress: BSC_USDT, totalValue: '20.140000000000000001', depositAddress: PAYEE });
const trx = payable({ assetDecimals: 6, totalValue: '165.5', depositAddress: TRON_PAYEE });
const trc20 = payable({ assetType: 'TRC20', assetDecimals: 6, contractAddress: TRON_USDT, totalValue: '20.140000', depositAddress: TRON_PAYEE });

interface Row {
  offer: Payable;
  on: NetworkFacts;
  open?: true;
  mode?: 'URI';
  code: string | null;
  other: string | null;
  links: WalletLink[];
}

const metaMask = (rest: string): WalletLink => ({ name: 'MetaMask', href: `${METAMASK}/${rest}` });
const trust = (query: string): WalletLink => ({ name: 'Trust Wallet', href: `${TRUST}?${query}` });
const device = (href: string): WalletLink => ({ name: null, href });

const ERC20_URI = `ethereum:${USDT}@1/transfer?address=${PAYEE}&uint256=20140000`;
const ERC20_LINKS = [metaMask(`${USDT}@1/transfer?address=${PAYEE}&uint256=20140000`), trust(`asset=c60_t${USDT}&address=${PAYEE}&amount=20.14`)];
const TRC20_LINKS = [trust(`asset=c195_t${TRON_USDT}&address=${TRON_PAYEE}&amount=20.140000`)];

/** Every row of the table in ux 4, and each of them for an open amount. */
const ROWS: Record<string, Row> = {
  'BTC in bech32': {
    offer: btc(BECH32),
    on: bitcoin,
    code: `bitcoin:${BECH32.toUpperCase()}?amount=0.00044007`,
    other: null,
    links: [device(`bitcoin:${BECH32}?amount=0.00044007&label=Acme%20%26%20S%C3%B6hne`)],
  },
  'BTC in bech32 of a test network': {
    offer: btc('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'),
    on: network('bitcoin', 'testnet4', 'BTC'),
    code: 'bitcoin:TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZSX?amount=0.00044007',
    other: null,
    links: [device('bitcoin:tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx?amount=0.00044007&label=Acme%20%26%20S%C3%B6hne')],
  },
  'BTC in base58': {
    offer: btc(BASE58),
    on: bitcoin,
    code: `bitcoin:${BASE58}?amount=0.00044007`,
    other: null,
    links: [device(`bitcoin:${BASE58}?amount=0.00044007&label=Acme%20%26%20S%C3%B6hne`)],
  },
  LTC: {
    offer: btc('LcHKgmGp7x3XYyiEqRQyCEzv9Ae1Q4G1P2'),
    on: network('bitcoin', 'litecoin', 'LTC'),
    code: 'litecoin:LcHKgmGp7x3XYyiEqRQyCEzv9Ae1Q4G1P2?amount=0.00044007',
    other: null,
    links: [device('litecoin:LcHKgmGp7x3XYyiEqRQyCEzv9Ae1Q4G1P2?amount=0.00044007&label=Acme%20%26%20S%C3%B6hne')],
  },
  DOGE: {
    offer: btc('DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L'),
    on: network('bitcoin', 'dogecoin', 'DOGE'),
    code: 'dogecoin:DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L?amount=0.00044007',
    other: null,
    links: [device('dogecoin:DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L?amount=0.00044007&label=Acme%20%26%20S%C3%B6hne')],
  },
  'BTC of an open amount': {
    offer: btc(BECH32),
    on: bitcoin,
    open: true,
    code: `bitcoin:${BECH32.toUpperCase()}`,
    other: null,
    links: [device(`bitcoin:${BECH32}?label=Acme%20%26%20S%C3%B6hne`)],
  },
  ETH: {
    offer: eth,
    on: ethereum,
    code: `ethereum:${PAYEE}@1?value=20140000000000000`,
    other: null,
    links: [metaMask(`${PAYEE}@1?value=20140000000000000`), trust(`asset=c60&address=${PAYEE}&amount=0.02014`)],
  },
  BNB: {
    offer: eth,
    on: bsc,
    code: `ethereum:${PAYEE}@56?value=20140000000000000`,
    other: null,
    links: [metaMask(`${PAYEE}@56?value=20140000000000000`), trust(`asset=c20000714&address=${PAYEE}&amount=0.02014`)],
  },
  'ETH of an open amount': {
    offer: eth,
    on: ethereum,
    open: true,
    code: `ethereum:${PAYEE}@1`,
    other: null,
    links: [metaMask(`${PAYEE}@1`), trust(`asset=c60&address=${PAYEE}`)],
  },
  'ERC-20': { offer: usdt, on: ethereum, code: PAYEE, other: ERC20_URI, links: ERC20_LINKS },
  'ERC-20 where the gateway wants URIs': { offer: usdt, on: ethereum, mode: 'URI', code: ERC20_URI, other: PAYEE, links: ERC20_LINKS },
  'ERC-20 of an open amount': {
    offer: usdt,
    on: ethereum,
    open: true,
    code: PAYEE,
    other: null,
    links: [metaMask(`${USDT}@1/transfer?address=${PAYEE}`), trust(`asset=c60_t${USDT}&address=${PAYEE}`)],
  },
  'BEP-20': {
    offer: bep20,
    on: bsc,
    code: PAYEE,
    other: `ethereum:${BSC_USDT}@56/transfer?address=${PAYEE}&uint256=20140000000000000001`,
    links: [
      metaMask(`${BSC_USDT}@56/transfer?address=${PAYEE}&uint256=20140000000000000001`),
      trust(`asset=c20000714_t${BSC_USDT}&address=${PAYEE}&amount=20.140000000000000001`),
    ],
  },
  'an EVM network no wallet knows': {
    offer: eth,
    on: network('evm', '31337', 'ETH'),
    code: `ethereum:${PAYEE}@31337?value=20140000000000000`,
    other: null,
    links: [],
  },
  TRX: {
    offer: trx,
    on: tron,
    code: TRON_PAYEE,
    other: `tron:${TRON_PAYEE}?amount=165.5`,
    links: [trust(`asset=c195&address=${TRON_PAYEE}&amount=165.5`)],
  },
  'TRX of an open amount': { offer: trx, on: tron, open: true, mode: 'URI', code: TRON_PAYEE, other: null, links: [trust(`asset=c195&address=${TRON_PAYEE}`)] },
  'TRC-20, for which a payer cannot choose a URI without its token': { offer: trc20, on: tron, code: TRON_PAYEE, other: null, links: TRC20_LINKS },
  'TRC-20 where the gateway wants URIs': {
    offer: trc20,
    on: tron,
    mode: 'URI',
    code: `tron:${TRON_PAYEE}?amount=20.140000`,
    other: TRON_PAYEE,
    links: TRC20_LINKS,
  },
  'an offer without an address': { offer: payable({}), on: ethereum, code: null, other: null, links: [] },
};

describe.each(Object.entries(ROWS))('%s', (_name, { offer, on, open, mode, code, other, links }) => {
  const options = { openAmount: open ?? false, qrMode: mode ?? 'SAFE' } as const;

  it('has the QR code, its alternative and the wallet links of ux 4', () => {
    expect(qrPayload(offer, on, options)).toBe(code);
    expect(alternativePayload(offer, on, options)).toBe(other);
    expect(walletLinks(offer, on, { ...options, merchant: 'Acme & Söhne' })).toEqual(links);
  });

  it.each([code, other].filter((payload) => payload !== null))('is read from its code as %s', async (payload) => {
    expect(await readRenderedQr(renderToString(<QrCode payload={payload} label="a code" />))).toBe(payload);
  });
});

describe('requests of wallets', () => {
  it('give base units as one whole number however large, without an exponent', () => {
    const offer = payable({ totalValue: '99999999999999999999.000000000000000001', depositAddress: PAYEE });
    expect(qrPayload(offer, ethereum, { openAmount: false, qrMode: 'SAFE' })).toBe(`ethereum:${PAYEE}@1?value=99999999999999999999000000000000000001`);
  });

  it('name no amount that the token cannot express, but still the address', () => {
    const offer = { ...usdt, totalValue: '20.1400001' };
    expect(alternativePayload(offer, ethereum, { openAmount: false, qrMode: 'SAFE' })).toBeNull();
    expect(qrPayload(offer, ethereum, { openAmount: false, qrMode: 'URI' })).toBe(PAYEE);
  });

  it('take a merchant whose name was cut in the middle of a character', () => {
    const [link] = walletLinks(btc(BECH32), bitcoin, { openAmount: true, merchant: 'Acme \ud83d' });
    expect(link?.href).toBe(`bitcoin:${BECH32}?label=Acme%20%EF%BF%BD`);
  });
});

import type { NetworkFacts, Offer, PaidDeposit, PublicPayment, Snapshot } from './page/snapshot.ts';

/** What an owner looks at before they save how their pages look. */
export const EXAMPLE_SCENES = ['choose', 'pay', 'paid', 'short'] as const;
export type ExampleScene = (typeof EXAMPLE_SCENES)[number];

const ID = '00000000-0000-4000-8000-000000000000';
/** No chain takes this for an address, so that nobody can pay what only looks like a payment. */
const NOWHERE = 'EXAMPLE-ONLY-DO-NOT-PAY-0000000000';
const NETWORKS: Record<string, NetworkFacts> = {
  tron: { displayName: 'TRON', family: 'tron', chainId: 'mainnet', nativeSymbol: 'TRX', expectedSeconds: 60 },
  bitcoin: { displayName: 'Bitcoin', family: 'bitcoin', chainId: 'mainnet', nativeSymbol: 'BTC', expectedSeconds: 1_200 },
};
const USDT: Offer = {
  id: '00000000-0000-4000-8000-000000000001',
  assetId: '00000000-0000-4000-8000-000000000002',
  assetSymbol: 'USDT',
  assetNetwork: 'tron',
  assetType: 'TRC20',
  contractAddress: null,
  assetDecimals: 6,
  assetPriceUsd: '1',
  amount: '49.9',
  txFee: '0.43',
  commissionFee: '0',
  totalValue: '50.33',
};
const BTC: Offer = {
  ...USDT,
  id: '00000000-0000-4000-8000-000000000003',
  assetId: '00000000-0000-4000-8000-000000000004',
  assetSymbol: 'BTC',
  assetNetwork: 'bitcoin',
  assetType: 'NATIVE',
  assetDecimals: 8,
  assetPriceUsd: '65000',
  amount: '0.000768',
  txFee: '0.00002',
  totalValue: '0.000788',
};

/** A payment that nobody made, at one moment of its life, as its shop would show it. Pure. */
export function exampleSnapshot(scene: ExampleScene, { merchant, qrMode, now }: Pick<Snapshot, 'merchant' | 'qrMode'> & { now: Date }): Snapshot {
  const at = (minutes: number): string => new Date(now.getTime() + minutes * 60_000).toISOString();
  const rests = scene === 'paid' || scene === 'short';
  const amount = scene === 'short' ? '20' : '50.33';
  const payment: PublicPayment = {
    id: ID,
    status: scene === 'paid' ? 'SUCCESS' : scene === 'short' ? 'MISMATCH' : 'PENDING',
    checkoutMode: 'HOSTED',
    amount: '49.90',
    amountUsd: '49.90',
    currencyCode: 'USD',
    createdAt: at(-1),
    expiresAt: at(15),
    offers: [scene === 'pay' ? { ...USDT, depositAddress: NOWHERE } : USDT, BTC],
    openAmount: false,
    isSandbox: false,
    language: null,
    reference: 'A-1001',
    txFeePayer: 'CUSTOMER',
    commissionFeePayer: 'MERCHANT',
    selectedOfferId: scene === 'choose' ? null : USDT.id,
    ...(rests && { paidAssetId: USDT.assetId, paidAssetSymbol: 'USDT', txHash: '0'.repeat(64), receivedAmount: amount, explorerTxUrl: '' }),
  };
  const paid: PaidDeposit = {
    assetSymbol: 'USDT',
    assetType: 'TRC20',
    network: 'tron',
    amount,
    block: 1,
    at: at(-0.5),
    otherCoin: false,
    requested: { amount: '50.33', assetSymbol: 'USDT', network: 'tron' },
  };
  return {
    serverTime: now.toISOString(),
    payment,
    pendingDeposit: null,
    graceEndsAt: at(60),
    mismatchSide: scene === 'short' ? 'UNDER' : null,
    lateCapture: false,
    paid: rests ? paid : null,
    networks: NETWORKS,
    merchant,
    returnUrl: '',
    qrMode,
  };
}

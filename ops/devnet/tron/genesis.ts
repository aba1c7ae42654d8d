import { sealBlock } from './block.ts';
import { type Hex, parseAddress } from './bytes.ts';
import { layer, type Value } from './cells.ts';
import type { ChainState } from './chain-state.ts';
import { codeCells, type TokenCode } from './contracts.ts';
import { DEMO_TRON_TOKENS, TRON_FAUCET } from './demo.ts';
import { cell } from './ledger.ts';

/** What mainnet's own genesis names as its parent. */
const PARENT = 'e58f33f9baf9305dc6f82b9f1934ea8f0ade2defb951258d50167028c780351f';
const FAUCET_TRX = 10_000_000_000n * 1_000_000n;
const FAUCET_TOKENS = 1_000_000_000_000n * 1_000_000n;

/** Energy of a USDT transfer on mainnet, to a holder and to a new one (chains 3.5, measured in 2026). */
export const TRANSFER_ENERGY = { energyHeld: 64_285n, energyNew: 130_285n, penaltyMille: 772n };

const TOKENS: Record<keyof typeof DEMO_TRON_TOKENS, TokenCode> = {
  USDT: { kind: 'token', name: 'Tether USD', symbol: 'USDT', decimals: 6n, returns: 'zero', ...TRANSFER_ENERGY },
  USDC: { kind: 'token', name: 'USD Coin', symbol: 'USDC', decimals: 6n, returns: 'true', energyHeld: 14_650n, energyNew: 29_650n, penaltyMille: 0n },
};

/** Puts block 0 on an empty chain: the faucet and the demo tokens. Its id depends on the time it begins, so chains differ. */
export function beginChain(state: ChainState, timestamp: bigint): void {
  const faucet = known(TRON_FAUCET.address);
  const cells: [string, Value][] = [
    [cell.account(faucet), { createTime: timestamp }],
    [cell.trx(faucet), FAUCET_TRX],
  ];
  for (const [symbol, code] of Object.entries(TOKENS)) {
    const contract = known(DEMO_TRON_TOKENS[symbol as keyof typeof DEMO_TRON_TOKENS]);
    cells.push(...codeCells(contract, code, timestamp), [cell.token(contract, faucet), FAUCET_TOKENS], [cell.supply(contract), FAUCET_TOKENS]);
  }
  const sheet = layer(state.cells);
  for (const [key, value] of cells) sheet.set(key, value);
  const writes = new Map(sheet.writes());
  sheet.apply();
  state.append(sealBlock({ number: 0, parentId: PARENT, timestamp, producer: 0, included: [], before: new Map() }), writes);
}

function known(address: string): Hex {
  const hex = parseAddress(address);
  if (hex === null) throw new Error(`${address} is no address`);
  return hex;
}

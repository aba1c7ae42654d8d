import { fromHex, type Hex, parseAddress, sha256, toBase58, toHex } from './bytes.ts';
import { amount, type Value } from './cells.ts';
import type { Mined } from './chain.ts';
import type { Amendment } from './chain-state.ts';
import type { AccountAnswer, ControlApi, MinedAnswer, ReplacementAsk, ScriptAsk, StatusAnswer, TokenAsk } from './control-api.ts';
import { codeCells, type Code } from './contracts.ts';
import { commonVerbs, type MiningTimer, type Verbs } from '../control-server.ts';
import { type Faults, noFaults } from '../faults.ts';
import type { FaultKind } from './faults.ts';
import { TRANSFER_ENERGY } from './genesis.ts';
import { accountExists, assetsOf, cell, trxOf } from './ledger.ts';
import { HONEST, type TronNode } from './node.ts';
import { isParameter } from './parameters.ts';
import { permissionCells } from './permission.ts';
import { resourcesOf } from './resources.ts';
import { fromBytes } from './transaction.ts';

/** Everything a test or a developer may do to the chain and to the node's manners. */
export function controlVerbs(node: TronNode, faults: Faults<FaultKind>, timer: MiningTimer): Verbs<ControlApi> {
  const { chain } = node;
  const { state } = chain;
  const amend = (...amendments: Amendment[]): Record<string, never> => {
    state.amend(amendments);
    return {};
  };
  const status = (): StatusAnswer => ({
    height: state.head().number,
    id: state.head().id,
    solidHeight: state.settings.solidHeight,
    nowMs: Number(chain.now()),
    pool: [...state.pool.keys()],
  });
  const deploy = (code: Code): { address: string } => {
    const address = freshAddress(node);
    amend(...codeCells(address, code, chain.now()).map(([put, value]) => ({ put, value })));
    return { address: toBase58(address) };
  };
  const open = (address: Hex): Amendment[] =>
    accountExists(state.cells, address) ? [] : [{ put: cell.account(address), value: { createTime: state.head().timestamp } }];

  return {
    ...commonVerbs(faults, timer),
    mine: ({ count = 1, txids, stepMs }) => mined(chain.mine(count, { ...(txids && { txids }), ...(stepMs !== undefined && { stepMs }) })),
    reorg: ({ depth, replacement = 'keep', force = false }) => mined(chain.reorg(depth, transactionsOf(replacement), force)),
    setSolidLag: ({ blocks }) => {
      state.set({ solidLag: blocks, solidHeight: Math.max(state.settings.solidHeight, state.head().number - blocks) });
      return {};
    },
    forget: ({ txids = [...state.pool.keys()] }) => {
      state.forget(txids);
      return {};
    },
    behave: (changed) => {
      Object.assign(node.behaviour, changed);
      return {};
    },
    recover: () => {
      Object.assign(faults, noFaults());
      Object.assign(node.behaviour, HONEST);
      return {};
    },
    fund: ({ address, sun }) => amend(...open(hexOf(address)), { add: cell.trx(hexOf(address)), value: BigInt(sun) }),
    fundAsset: ({ address, tokenId, raw }) => {
      const held = assetsOf(state.cells, hexOf(address));
      const known: Amendment[] = held.includes(tokenId) ? [] : [{ put: cell.assetsOf(hexOf(address)), value: [...held, tokenId] }];
      return amend(...open(hexOf(address)), ...known, { add: cell.asset(hexOf(address), tokenId), value: BigInt(raw) });
    },
    mint: ({ contract, address, raw }) =>
      amend({ add: cell.token(hexOf(contract), hexOf(address)), value: BigInt(raw) }, { add: cell.supply(hexOf(contract)), value: BigInt(raw) }),
    deployToken: (ask) => deploy(tokenOf(ask)),
    script: (ask) => deploy(scriptOf(ask)),
    setResources: ({ address, energyLimit, netLimit }) => {
      const resources = resourcesOf(state.cells, hexOf(address));
      const limits = { ...(energyLimit !== undefined && { energyLimit: BigInt(energyLimit) }), ...(netLimit !== undefined && { netLimit: BigInt(netLimit) }) };
      return amend({ put: cell.resources(hexOf(address)), value: { ...resources, ...limits } as unknown as Value });
    },
    setParameter: ({ name, value }) => {
      if (!isParameter(name)) throw new Error(`no chain parameter is called ${name}`);
      return amend({ put: `param:${name}`, value: BigInt(value) });
    },
    setPermission: ({ address, threshold, keys }) => {
      const permission = { threshold: BigInt(threshold), keys: keys.map((key) => ({ address: hexOf(key.address), weight: BigInt(key.weight) })) };
      return amend(...permissionCells(hexOf(address), permission).map(([put, value]) => ({ put, value })));
    },
    setTime: ({ unixSeconds }) => {
      state.set({ clockOffsetMs: state.settings.clockOffsetMs + unixSeconds * 1000 - Number(chain.now()) });
      return status();
    },
    warp: ({ seconds }) => {
      state.set({ clockOffsetMs: state.settings.clockOffsetMs + seconds * 1000 });
      return status();
    },
    status,
    accounts: () => ({ accounts: accountsOf(node) }),
  };
}

function mined({ blocks, refused }: Mined): MinedAnswer {
  return { blocks: blocks.map(({ number, id, included }) => ({ number, id, txids: included.map((each) => each.transaction.txid) })), refused };
}

function transactionsOf(replacement: ReplacementAsk): Parameters<TronNode['chain']['reorg']>[1] {
  return Array.isArray(replacement) ? replacement.map((block) => block.map((hex) => fromBytes(fromHex(hex)))) : replacement;
}

function tokenOf({ symbol, name, decimals, returns, energyHeld, energyNew, penaltyMille }: TokenAsk): Code {
  return {
    kind: 'token',
    name: name ?? symbol,
    symbol,
    decimals: BigInt(decimals),
    returns,
    energyHeld: BigInt(energyHeld ?? TRANSFER_ENERGY.energyHeld),
    energyNew: BigInt(energyNew ?? TRANSFER_ENERGY.energyNew),
    penaltyMille: BigInt(penaltyMille ?? TRANSFER_ENERGY.penaltyMille),
  };
}

function scriptOf({ name, steps, energy, outcome, reason, returns }: ScriptAsk): Code {
  return {
    kind: 'script',
    name: name ?? 'Script',
    steps,
    energy: BigInt(energy ?? 10_000),
    outcome: outcome ?? 'SUCCESS',
    reason: reason ?? '',
    returns: returns ?? '',
  };
}

/** An address nobody has a key for, the same ones in the same order on every chain. */
function freshAddress({ chain }: TronNode): Hex {
  const deployed = amount(chain.state.cells, 'deployed');
  chain.state.amend([{ add: 'deployed', value: 1n }]);
  return `41${toHex(sha256(new TextEncoder().encode(`local TRON contract ${deployed}`))).slice(24)}`;
}

function accountsOf({ chain }: TronNode): AccountAnswer[] {
  const { cells } = chain.state;
  const keys = chain.state.keys();
  const tokens = keys.filter((key) => key.startsWith('token:')).map((key) => key.split(':') as [string, Hex, Hex]);
  return keys
    .filter((key) => key.startsWith('account:'))
    .map((key) => key.slice('account:'.length))
    .map((address) => ({
      address: toBase58(address),
      sun: `${trxOf(cells, address)}`,
      tokens: Object.fromEntries(
        tokens.filter(([, , holder]) => holder === address).map(([, contract]) => [toBase58(contract), `${amount(cells, cell.token(contract, address))}`]),
      ),
    }));
}

function hexOf(address: string): Hex {
  const hex = parseAddress(address);
  if (hex === null) throw new Error(`${address} is no address`);
  return hex;
}

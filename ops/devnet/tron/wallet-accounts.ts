import type { Hex } from './bytes.ts';
import { amount, type Cells } from './cells.ts';
import { accountExists, assetsOf, cell, isContract, trxOf } from './ledger.ts';
import type { Handler, View } from './node.ts';
import { parameter, parameters } from './parameters.ts';
import { permissionOf } from './permission.ts';
import { type Json, printAddress, sparse } from './print.ts';
import { resourcesOf, usedNow } from './resources.ts';

/** Weight figures of mainnet's size; nothing is computed from them. */
const TOTALS = { TotalNetLimit: 43_200_000_000n, TotalNetWeight: 26_000_000_000n };
const ENERGY_TOTALS = { TotalEnergyLimit: 180_000_000_000n, TotalEnergyWeight: 19_000_000_000n };
/** All contract types but permission changes, as an account's first active permission allows. */
const OPERATIONS = '7fff1fc0033ec30f000000000000000000000000000000000000000000000000';

/** Accounts, what they hold and may use, and what things cost. */
export const accountHandlers: Record<string, Handler> = {
  getaccount: (view, request) => {
    if (request.text('address') === '') return {};
    const address = request.address('address');
    const cells = view.cells();
    return accountExists(cells, address) ? printAccount(view, cells, address, request.visible) : {};
  },

  getaccountresource: (view, request) => {
    const address = request.address('address');
    const cells = view.cells();
    if (!accountExists(cells, address)) return {};
    const { energy, energyLimit } = resourcesOf(cells, address);
    return { ...printNet(view, cells, address), ...sparse({ EnergyUsed: usedNow(energy, time(view)), EnergyLimit: energyLimit }), ...ENERGY_TOTALS };
  },

  getaccountnet: (view, request) => {
    const address = request.address('address');
    const cells = view.cells();
    return accountExists(cells, address) ? printNet(view, cells, address) : {};
  },

  getchainparameters: (view) => ({ chainParameter: parameters(view.cells()).map(({ key, value }) => ({ key, ...sparse({ value }) })) }),
  getenergyprices: (view) => ({ prices: `0:${parameter(view.cells(), 'getEnergyFee')}` }),
  getbandwidthprices: (view) => ({ prices: `0:${parameter(view.cells(), 'getTransactionFee')}` }),
  getmemofee: (view) => ({ prices: `0:${parameter(view.cells(), 'getMemoFee')}` }),

  getnodeinfo: (view) => {
    const head = view.block(view.height);
    const solid = view.node.chain.state.blocks[view.node.chain.state.settings.solidHeight];
    return {
      block: `Num:${head?.number},ID:${head?.id}`,
      solidityBlock: `Num:${solid?.number},ID:${solid?.id}`,
      beginSyncNum: BigInt(view.height),
      currentConnectCount: 0n,
      activeConnectCount: 0n,
      passiveConnectCount: 0n,
      peerList: [],
      configNodeInfo: { codeVersion: '4.8.1', p2pVersion: '11111', supportConstant: view.node.behaviour.supportConstant },
    };
  },
};

function time(view: View): bigint {
  return view.block(view.height)?.timestamp ?? 0n;
}

function printNet(view: View, cells: Cells, address: Hex): Json {
  const { free, net, netLimit } = resourcesOf(cells, address);
  return {
    ...sparse({ freeNetUsed: usedNow(free, time(view)), freeNetLimit: parameter(cells, 'getFreeNetLimit') }),
    ...sparse({ NetUsed: usedNow(net, time(view)), NetLimit: netLimit }),
    ...TOTALS,
  };
}

function printAccount(view: View, cells: Cells, address: Hex, visible: boolean): Json {
  const { free, net, energy } = resourcesOf(cells, address);
  const account = cells.get(cell.account(address)) as { createTime: bigint };
  const permission = permissionOf(cells, address);
  const contract = isContract(cells, address);
  const keys = permission.keys.map((key) => ({ address: printAddress(key.address, visible), weight: key.weight }));
  const assets = assetsOf(cells, address).map((key) => ({ key, value: amount(cells, cell.asset(address, key)) }));
  return {
    address: printAddress(address, visible),
    ...sparse({ balance: trxOf(cells, address), create_time: account.createTime, latest_consume_free_time: free.usedAt, latest_consume_time: net.usedAt }),
    ...sparse({ free_net_usage: usedNow(free, time(view)), net_usage: usedNow(net, time(view)) }),
    ...(contract && { type: 'Contract' }),
    net_window_size: 28_800_000n,
    net_window_optimized: true,
    account_resource: {
      ...sparse({ energy_usage: usedNow(energy, time(view)), latest_consume_time_for_energy: energy.usedAt }),
      energy_window_size: 28_800_000n,
      energy_window_optimized: true,
    },
    ...(!contract && {
      owner_permission: { permission_name: 'owner', threshold: permission.threshold, keys },
      active_permission: [{ type: 'Active', id: 2, permission_name: 'active', threshold: permission.threshold, operations: OPERATIONS, keys }],
    }),
    frozenV2: [{}, { type: 'ENERGY' }, { type: 'TRON_POWER' }],
    ...(assets.length > 0 && { assetV2: assets }),
    asset_optimized: true,
  };
}

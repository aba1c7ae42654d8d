import { readFile, writeFile } from 'node:fs/promises';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { connect } from '#shared/platform/postgres.ts';
import { again, type Patience } from './again.ts';
import { call, type GatewayCredentials, type Operator } from './client.ts';
import type { DevFile, DevNetwork } from './dev-file.ts';
import { familyOf } from './families.ts';
import { type LocalNode, topUp } from './local-chain.ts';
import type { LocalNetworks } from './local-networks.ts';
import type { Processes } from './processes.ts';
import { SHOP } from './shop-pages.ts';
import { LONGEST_START_MS } from './services/child.ts';
import { waitFor } from './services/wait.ts';

/** The demo gateway of the shop at `shopOrigin`, made once per data folder through the operator API; its secrets are shown once, so they are kept. */
export async function demoGateway(control: Operator, path: string, shopOrigin: string): Promise<DevFile['gateway']> {
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined) {
    const gateway = JSON.parse(kept) as DevFile['gateway'];
    if ((await control.call('GET', `/gateways/${gateway.id}`)).success) return gateway;
  }
  const here = ['127.0.0.1', '::1'];
  const created = (await control.must('POST', '/gateways', {
    body: {
      name: 'Acme Books (demo)',
      apiAllowlist: here,
      cashout: { enabled: true, allowlist: here },
      branding: { displayName: 'Acme Books', logoUrl: shopOrigin + SHOP.logo, supportUrl: shopOrigin + SHOP.help },
      contactEmail: 'demo@example.com',
    },
  })) as { gateway: { id: string } } & Omit<GatewayCredentials, 'id'>;
  const totp = (await control.must('POST', `/gateways/${created.gateway.id}/totp`)) as { secret: string };
  const gateway = {
    id: created.gateway.id,
    apiKey: created.apiKey,
    cashoutSigningSecret: created.cashoutSigningSecret,
    webhookSecret: created.webhookSecret,
    totpSecret: totp.secret,
  };
  await writeFile(path, `${JSON.stringify(gateway, null, 2)}\n`, { mode: 0o600 });
  return gateway;
}

/** The gateway that the canary pays every minute, with its key in a file; made once per data folder. */
export async function canaryGateway(control: Operator, baseUrl: string, path: string): Promise<void> {
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined && (await call(`${baseUrl}/assets`, 'GET', { headers: { 'x-api-key': kept.trim() } })).success) return;
  const { apiKey } = (await control.must('POST', '/gateways', { body: { name: 'Canary' } })) as { apiKey: string };
  await writeFile(path, `${apiKey}\n`, { mode: 0o600 });
}

/** Gives the wallets native coin by transfers the indexer sees, so that the books know of them. */
export async function fundWallets(local: LocalNetworks, databaseUrl: string, patience: Patience): Promise<void> {
  if (local.chains.size === 0) return;
  const database = connect(databaseUrl, { name: 'sluice-dev', max: 1 });
  try {
    await waitFor(async () => (await database.sql`select 1 from watches where acked_epoch is null limit 1`).length === 0, {
      what: 'the indexers to watch the wallets',
      timeoutMs: LONGEST_START_MS,
      everyMs: 100,
      tell: patience.say,
      signal: patience.signal,
    });
  } finally {
    await database.end();
  }
  await Promise.all(
    local.networks.map(async (network) => {
      const node = local.chains.get(network.name);
      if (node !== undefined) await again(`funding the wallets on ${network.name}`, () => fundOne(network, node, patience.say), patience);
    }),
  );
}

async function fundOne(network: NetworkConfig, node: LocalNode, say: (line: string) => void): Promise<void> {
  const { walletCoins } = familyOf(network.family);
  const decimals = network.assets.find((asset) => asset.contract === null)?.decimals ?? 0;
  const transactions: string[] = [];
  // One after the other: the node numbers the faucet's transactions as they arrive.
  for (const wallet of [network.wallets.hot, network.wallets.funding]) {
    const txid = await topUp(node, wallet.address, walletCoins * 10n ** BigInt(decimals));
    if (txid !== undefined) transactions.push(txid);
  }
  for (const txid of transactions) await node.mined(txid);
  if (transactions.length > 0) say(`${network.name}: wallets funded with ${walletCoins} ${network.nativeSymbol} each`);
}

/** The networks as dev.json lists them. */
export async function describeNetworks(control: Operator, local: LocalNetworks, processes: Processes): Promise<Record<string, DevNetwork>> {
  const { items } = (await control.must('GET', '/networks?limit=100')) as { items: { id: string; name: string }[] };
  return Object.fromEntries(
    local.networks.map((network) => [
      network.name,
      {
        id: items.find((item) => item.name === network.name)?.id ?? '',
        family: network.family,
        rpcUrl: network.rpcUrls[0] as string,
        ...(network.family === 'evm' ? { chainId: Number(network.chainId) } : {}),
        ...(local.chains.has(network.name) ? faucetOf(network.family) : {}),
        indexerPid: processes.indexers.get(network.name)?.pid() ?? 0,
      },
    ]),
  );
}

function faucetOf(family: string): Pick<DevNetwork, 'faucetPrivateKey'> {
  const { faucetPrivateKey } = familyOf(family);
  return faucetPrivateKey === undefined ? {} : { faucetPrivateKey };
}

/** The assets as dev.json lists them. */
export async function describeAssets(control: Operator, local: LocalNetworks): Promise<DevFile['assets']> {
  const { items } = (await control.must('GET', '/assets?limit=100')) as { items: (Omit<DevFile['assets'][number], 'network'> & { networkName: string })[] };
  const served = new Set(local.networks.map((network) => network.name));
  return items
    .filter((asset) => served.has(asset.networkName))
    .map(({ id, symbol, networkName, type, contract, decimals }) => ({ id, symbol, network: networkName, type, contract, decimals }));
}

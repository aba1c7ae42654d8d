import type { Shop } from './model.ts';
import type { Town } from './town.ts';

const HERE = { enabled: true, allowlist: ['127.0.0.1'] };

/** The merchants of a town, each with other rules. */
export async function openShops(town: Town): Promise<Shop[]> {
  const shops: Shop[] = [];
  const open = async (name: string, routes: readonly string[], settings: Record<string, unknown>): Promise<void> => {
    const gateway = await town.gateway({ name, settings: { maturitySeconds: 0 }, ...settings });
    shops.push({ name, gateway, routes });
  };
  await open('plain', ['GREEN'], { cashout: HERE });
  await open('monthly', ['GREEN'], { billing: 'MONTHLY', cashout: { ...HERE, dispatchDelaySeconds: 30 } });
  await open('careful', ['GREEN'], { cashout: { ...HERE, parkingEnabled: true, parkedCap: 5, approvalCapUsd: '12' } });
  await open('screened', ['GREEN', 'AML_HELD', 'SMART'], {
    cashout: { ...HERE, parkingEnabled: true },
    screening: { enabled: true, credits: 12, threshold: 70 },
  });
  return shops;
}

import { type Command, textOption, UsageError } from './command.ts';
import { facts } from './format.ts';

export const assetCommands: readonly Command[] = [
  {
    name: 'asset add',
    args: '<network> <symbol> <contract> <decimals>',
    summary: 'accept a token; contract and decimals are pinned as given',
    options: {
      name: { type: 'string', help: 'name for people' },
      'network-fee': { type: 'string', help: 'network fee of a payment, in asset units' },
      'dust-floor': { type: 'string', help: 'a smaller transfer resolves nothing' },
      'minimum-settlement': { type: 'string', help: 'smallest cashout, in asset units' },
      price: { type: 'string', help: 'also set its static price in US dollars (development)' },
    },
    arity: [4, 4],
    async run(context, [network, symbol, contract, decimals], options) {
      if (!/^\d{1,2}$/.test(decimals ?? '')) throw new UsageError(`decimals must be a whole number, not "${decimals}"`);
      const body = {
        network,
        symbol,
        contract,
        decimals: Number(decimals),
        name: textOption(options, 'name'),
        networkFee: textOption(options, 'network-fee'),
        dustFloor: textOption(options, 'dust-floor'),
        minimumSettlement: textOption(options, 'minimum-settlement'),
      };
      const { operator } = await context();
      const { asset } = (await operator.must('POST', '/assets', { body })) as {
        asset: { id: string; symbol: string; networkName: string; contract: string; decimals: number };
      };
      const usd = textOption(options, 'price');
      if (usd !== undefined) await operator.must('PUT', `/prices/${encodeURIComponent(asset.symbol)}`, { body: { usd } });
      const note = usd === undefined ? `\n\nOffers use it once ${asset.symbol} has a price.` : '';
      return {
        data: asset,
        text: `${facts({ asset: asset.id, symbol: asset.symbol, network: asset.networkName, contract: asset.contract, decimals: asset.decimals })}${note}`,
      };
    },
  },
];

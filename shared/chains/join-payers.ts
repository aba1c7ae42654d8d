import { ChainUnavailable, type Payer } from './chain.ts';
import type { Endpoints } from './watch-endpoints.ts';

/**
 * Makes one payer of several. Each question goes to one endpoint, then to the next. Bytes go to all of them, because an endpoint may keep them to
 * itself, and the chain accepts them only once.
 */
export function joinPayers(endpoints: Endpoints, payers: readonly Payer[]): Payer {
  const payer = (at: number): Payer => payers[at] as Payer;
  const pay = async <T>(question: (one: Payer) => Promise<T>): Promise<T> => (await endpoints.first((at) => question(payer(at)))).answer;
  const bump = payers[0]?.bump ?? null;
  const lives = payers.flatMap(({ bytesLiveSeconds }) => bytesLiveSeconds ?? []);

  /** Each endpoint has its own mempool, so all are asked, and a transaction in any one of them counts. */
  const waitingNonce: Required<Payer>['waitingNonce'] = async (address) =>
    Math.max(...(await Promise.all(payers.map((one, at) => endpoints.ask(at, () => (one.waitingNonce as Required<Payer>['waitingNonce'])(address))))));

  const join: Required<Payer>['join'] = (wallet, coins, replaced) => pay((one) => (one.join as Required<Payer>['join'])(wallet, coins, replaced));
  const outputCost: Required<Payer>['outputCost'] = () => pay((one) => (one.outputCost as Required<Payer>['outputCost'])());

  return {
    quote: (intent, coins, bound) => pay((one) => one.quote(intent, coins, bound)),
    estimate: (intent, coins, bound) => pay((one) => one.estimate(intent, coins, bound)),
    bump: bump === null ? null : (fields, family) => pay((one) => (one.bump ?? bump)(fields, family)),
    ...(payers.every((one) => one.join !== undefined) ? { join } : {}),
    ...(payers.every((one) => one.outputCost !== undefined) ? { outputCost } : {}),
    nonce: (address) => pay((one) => one.nonce(address)),
    ...(payers.every((one) => one.waitingNonce !== undefined) ? { waitingNonce } : {}),
    ...(lives.length > 0 ? { bytesLiveSeconds: Math.max(...lives) } : {}),
    balance: (address, contract) => pay((one) => one.balance(address, contract)),

    broadcast(signedBytes) {
      const all = endpoints.inOrder();
      if (all.length === 0) return Promise.resolve({ accepted: false, answer: 'no endpoint can be asked now' });
      return new Promise((resolve, reject) => {
        const answers: string[] = [];
        for (const at of all) {
          hand(at).then((answer) => {
            if (answer.accepted) resolve(answer);
            answers.push(all.length === 1 ? answer.answer : `${endpoints.providerOf(at)}: ${answer.answer}`);
            // The first endpoint that accepts them decides. That none did is known only after the last.
            if (answers.length === all.length) resolve({ accepted: false, answer: answers.join('; ') });
          }, reject);
        }
      });

      async function hand(at: number): Promise<{ accepted: boolean; answer: string }> {
        try {
          return await endpoints.ask(at, () => payer(at).broadcast(signedBytes));
        } catch (error) {
          if (error instanceof ChainUnavailable) return { accepted: false, answer: error.message };
          throw error;
        }
      }
    },
  };
}

import { PAYMENTS_CHANNEL, type Streams } from '#shared/platform/redis-streams.ts';
import { isUuid } from '#shared/core/ids.ts';

/** That something may look different now: some payments, and whatever waits for blocks of a network. */
export interface News {
  paymentIds: readonly string[];
  /** Name of the network that has a new tip, or whose unmined transactions changed. */
  network?: string;
}

/** Word of changes as it goes from whoever commits them to every process that shows payments; any of it may be lost. */
export interface NewsLine {
  announce(news: News): void;
  /** Calls `heard` at each piece of news, and `resumed` each time after which none before is to be counted on, until the returned function is called. */
  listen(heard: (news: News) => void, resumed: () => void): () => void;
  /** True while none can arrive. */
  deaf(): boolean;
}

/** Ids in one message; more are split, so that no message grows without bound. */
const IDS_AT_ONCE = 500;

/** Carries news over Redis, to every process of the deployment and to this one. */
export function openNews(streams: Pick<Streams, 'nudge' | 'onNudge' | 'deaf'>): NewsLine {
  return {
    announce({ paymentIds, network }) {
      if (paymentIds.length === 0 && network === undefined) return;
      for (let from = 0; from === 0 || from < paymentIds.length; from += IDS_AT_ONCE)
        streams.nudge(PAYMENTS_CHANNEL, encodeNews({ paymentIds: paymentIds.slice(from, from + IDS_AT_ONCE), ...(network !== undefined && { network }) }));
    },
    // Without a word: some could not be sent.
    listen: (heard, resumed) => streams.onNudge(PAYMENTS_CHANNEL, (word) => (word === '' ? resumed() : heard(decodeNews(word))), resumed),
    deaf: () => streams.deaf(),
  };
}

/** Pure. */
export function encodeNews({ paymentIds, network }: News): string {
  return [network ?? '', ...paymentIds].join(' ');
}

/** Reads what `encodeNews` wrote; of anything else it keeps what could be meant. Pure. */
export function decodeNews(word: string): News {
  const [network = '', ...ids] = word.split(' ');
  return { paymentIds: ids.filter(isUuid), ...(network !== '' && { network }) };
}

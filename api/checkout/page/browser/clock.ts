/** Service time as this browser knows it, whatever its own clock says. */
export interface ServiceClock {
  /** Service time, milliseconds. */
  now(): number;
  /** Sets it by a moment of service time (RFC 3339) that was just received. */
  correct(serverTime: string): void;
}

/** No news is later than this, in milliseconds: a try for a snapshot ends sooner, and so does a socket that says nothing. */
const LATEST_NEWS_MS = 50_000;

/**
 * True of a moment before the last one that was heard of: news that was held up on its way. One from longer ago is no old news
 * but a service whose clock was set back. Milliseconds of service time. Pure.
 */
export function isOldNews(moment: number, last: number): boolean {
  return moment < last && last - moment < LATEST_NEWS_MS;
}

/**
 * A clock that shows service time: a phone that is 7 minutes fast must not take 7 minutes off a price hold (ux C5). It
 * counts on by `local` (milliseconds) and is set anew by whatever arrives with a service time. Old news does not set
 * it.
 * @param heard the first moment of service time, and when it was heard by `local`
 */
export function serviceClock(local: () => number, heard: { serverTime: string; at: number }): ServiceClock {
  let last = Date.parse(heard.serverTime);
  let ahead = last - heard.at;
  return {
    now: () => local() + ahead,
    correct: (serverTime) => {
      const moment = Date.parse(serverTime);
      if (Number.isNaN(moment) || isOldNews(moment, last)) return;
      last = moment;
      ahead = moment - local();
    },
  };
}

import type { Response } from 'express';
import type { FollowedPage, FollowedPages } from '#api/console/followed-pages.ts';
import { POLICY } from '#shared/core/policy.ts';

/** How long a browser waits until it opens a stream again that broke off. */
const REOPEN_MS = 5_000;
/** Of words of some thirty bytes: who is further behind reads no more. */
const BACKLOG_BYTES = 16_384;

/**
 * Answers with a stream of server-sent events that says nothing but that what a page shows has changed: each `message` is a mark, and the page is then read like any other. An
 * `end` says that whoever reads may do so no more.
 */
export function tellChanges(response: Response, followed: FollowedPages, page: Omit<FollowedPage, 'told' | 'ended'>, headers: Record<string, string>): void {
  // Its `close` was told already: the place would never be given back.
  if (response.destroyed) return;
  const write = (text: string): void => {
    if (response.writableLength > BACKLOG_BYTES) response.destroy();
    else response.write(text);
  };
  const unfollow = followed.follow({
    ...page,
    told: (mark) => write(`data: ${mark}\n\n`),
    ended(why) {
      if (why === 'refused') write('event: end\ndata:\n\n');
      end();
    },
  });
  const beating = setInterval(() => write(':\n\n'), POLICY.socketPingSeconds * 1_000);
  // Until all is sent the answer is not closed, which takes for ever where one before it on the connection never ends: whatever was written to it then would end this process.
  const end = (): void => {
    leave();
    response.end();
  };
  const ending = setTimeout(end, POLICY.streamSeconds * 1_000);
  const leave = (): void => {
    clearInterval(beating);
    clearTimeout(ending);
    unfollow();
  };
  response.once('close', leave);
  response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
  write(`retry: ${REOPEN_MS}\n\n`);
}

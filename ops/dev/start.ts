import { packageRoot } from '#shared/platform/package-root.ts';
import { again } from './again.ts';
import { banner } from './banner.ts';
import { consoleLinks } from './console-links.ts';
import { CannotStart } from './cannot-start.ts';
import { type DemoPayments, demoPayments } from './demo-payments.ts';
import { dataDirectory, type DevFile } from './dev-file.ts';
import { isSigned, whatItSays } from './read-webhook.ts';
import { playHistory } from './history.ts';
import { aborted, Stopped, stopRequest } from './stop-request.ts';
import { startStack } from './stack.ts';
import type { ReceivedWebhook } from './webhook-receiver.ts';

const OPTIONS = ['--reset', '--with-history', '--json'];
const flags = new Set(process.argv.slice(2));
const json = flags.has('--json');
/** With --json stdout belongs to the one line at the end. */
const say = (line: string): void => void (json ? process.stderr : process.stdout).write(`${line}\n`);

async function main(): Promise<void> {
  const unknown = [...flags].find((flag) => !OPTIONS.includes(flag));
  if (unknown !== undefined) throw new CannotStart(`unknown option ${unknown}; there are ${OPTIONS.join(', ')}`);
  const began = performance.now();
  const signal = stopRequest(() => say('\nstopping (the data is kept)'));
  const root = packageRoot();
  const stack = await startStack({
    root,
    signal,
    directory: dataDirectory(process.env, root),
    reset: flags.has('--reset'),
    say: (line) => say(`  ${line}`),
    onWebhook: (webhook, dev) => say(describeWebhook(webhook, dev)),
  });
  say(`ready in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  try {
    if (flags.has('--with-history')) await playHistory(stack.dev, { say: (line) => say(`  ${line}`), signal });
    if (json) process.stdout.write(`${JSON.stringify(stack.dev)}\n`);
    else say(banner(stack.dev, await paymentsToOpen(stack.dev, signal), await consoleLinks(stack.dev)));
    await aborted(signal);
  } finally {
    await stack.stop();
  }
}

/** What the banner links to; a deployment whose networks or prices allow no payment still starts. */
async function paymentsToOpen(dev: DevFile, signal: AbortSignal): Promise<DemoPayments | undefined> {
  try {
    return await again('the payments to open in a browser', () => demoPayments(dev), { say: (line) => say(`  ${line}`), signal });
  } catch (error) {
    signal.throwIfAborted();
    say(`no payment to open in a browser: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** `14:02:11  webhook SUCCESS 7d9f…  signature ok`. */
function describeWebhook(webhook: ReceivedWebhook, dev: DevFile): string {
  return `${webhook.at.slice(11, 19)}  webhook ${whatItSays(webhook)}  ${isSigned(webhook, dev.gateway.webhookSecret) ? 'signature ok' : "not signed with the demo gateway's secret"}`;
}

main().catch((error: unknown) => {
  if (error instanceof Stopped) return say('stopped');
  process.stderr.write(
    `${error instanceof CannotStart ? `sluice: ${error.message}` : `sluice: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`}\n`,
  );
  process.exitCode = 1;
});

import { packageRoot } from '#shared/platform/package-root.ts';
import { CannotStart } from './cannot-start.ts';
import { approveWithCode, cancelParked, cashOutHeld, parkUntilFunded } from './cashout-story.ts';
import { dataDirectory, type DevFile, readDevFile } from './dev-file.ts';
import { openPayer } from './hosted-payers.ts';
import { hostedStories } from './hosted-story.ts';
import { otherRunner } from './runner-lock.ts';
import { waitFor } from './services/wait.ts';
import { aborted, stopRequest } from './stop-request.ts';
import { startStack } from './stack.ts';
import { setScene, type Story } from './scene.ts';
import { payAndCashOut, payInTwoOutputs, payLate, payTooLittle, payWrongAsset } from './story.ts';

const STORIES: readonly Story[] = [
  { name: 'paid and cashed out', tell: payAndCashOut },
  { name: 'underpaid', tell: payTooLittle },
  { name: 'wrong asset', tell: payWrongAsset, fits: ({ otherAsset }) => otherAsset !== undefined },
  { name: 'two outputs', tell: payInTwoOutputs, fits: ({ chain }) => chain.payTogether !== undefined },
  { name: 'expired, then late', tell: payLate },
  { name: 'approved with a code', tell: approveWithCode },
  { name: 'parked, then funded', tell: parkUntilFunded },
  { name: 'parked, cancelled', tell: cancelParked },
  { name: 'flagged, AML_HELD', tell: cashOutHeld },
];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Tells every story on every network of the running instance, or of one started for the purpose; with `--hosted` those of the hosted page. */
async function main(): Promise<number> {
  const flags = process.argv.slice(2);
  const unknown = flags.find((flag) => flag !== '--hosted');
  if (unknown !== undefined) throw new CannotStart(`unknown option ${unknown}; there is --hosted`);
  const tell = flags.includes('--hosted') ? tellHosted : (dev: DevFile) => tellAll(dev, STORIES);
  const root = packageRoot();
  const directory = dataDirectory(process.env, root);
  if ((await otherRunner(directory)) !== undefined)
    return tell(await waitFor(() => readDevFile(directory), { what: 'npm start to be ready', timeoutMs: 90_000 }));
  const signal = stopRequest(() => say('stopping'));
  const stack = await startStack({ root, directory, signal, reset: false, say: (line) => say(`  ${line}`), onWebhook: () => undefined });
  try {
    return await Promise.race([tell(stack.dev), aborted(signal)]);
  } finally {
    await stack.stop();
  }
}

/** Somebody opens payments in a browser and pays them. */
async function tellHosted(dev: DevFile): Promise<number> {
  const payer = await openPayer();
  say(`the hosted page, by ${payer.means}`);
  try {
    return await tellAll(dev, hostedStories(payer));
  } finally {
    await payer.close();
  }
}

async function tellAll(dev: DevFile, stories: readonly Story[]): Promise<number> {
  let failures = 0;
  const networks = Object.keys(dev.networks);
  for (const network of networks) {
    if (!dev.localNetworks.includes(network)) {
      say(`${network.padEnd(10)} skipped: no faucet to pay from`);
      if (networks.length === 1) failures += 1;
      continue;
    }
    const scene = setScene(dev, network);
    for (const { name, tell: story } of stories.filter(({ fits }) => fits?.(scene) ?? true)) {
      const began = performance.now();
      const line = (mark: string, text: string): void =>
        say(`${network.padEnd(10)} ${name.padEnd(22)} ${mark.padEnd(6)} ${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s   ${text}`);
      try {
        line('ok', await story(scene));
      } catch (error) {
        failures += 1;
        line('FAILED', error instanceof Error ? error.message : String(error));
      }
    }
  }
  return failures === 0 ? 0 : 1;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof CannotStart ? `sluice: ${error.message}` : String(error instanceof Error ? error.stack : error)}\n`);
    process.exitCode = 1;
  },
);

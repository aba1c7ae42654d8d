import { readFileSync, statSync } from 'node:fs';
import type { Logger } from '#shared/platform/logger.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type Canonical, type ParsedList, parseSanctionsList } from './parse-list.ts';

/** Addresses that must never be paid, and whose money is never clean. */
export interface SanctionsList {
  /** Whether any of these canonical addresses is on it. */
  lists(addresses: readonly string[]): boolean;
  size(): number;
}

interface Source {
  path: string;
  canonical: Canonical;
  log: Logger;
  /** Milliseconds of any steady clock. */
  now(): number;
}

/** How many malformed lines are shown; the count tells the rest. */
const SHOWN_LINES = 20;

/**
 * Opens a sanctions list in a file and follows its changes. What it held stays in force when a new version cannot be read,
 * is still being written, or holds less than half of it: that is an accident more often than a pardon, and a restart accepts it.
 * @throws Error at first when it cannot be read, or holds no address of this deployment's chains
 */
export function openSanctionsList({ path, canonical, log, now }: Source): SanctionsList {
  let stamp = stampOf(path);
  let current = parseSanctionsList(readFileSync(path, 'utf8'), canonical);
  if (current.addresses.size === 0) throw new Error(`${path} holds no address of a chain of this deployment`);
  let checkedAt = now();
  let refused = '';
  report(log, path, current);

  const reload = (): void => {
    const before = stampOf(path);
    if (before === stamp || before === refused) return;
    const next = parseSanctionsList(readFileSync(path, 'utf8'), canonical);
    // Somebody writes it at this moment.
    if (stampOf(path) !== before) return;
    if (next.addresses.size * 2 < current.addresses.size) {
      refused = before;
      log.error({ path, addresses: next.addresses.size, before: current.addresses.size }, 'sanctions list shrank by more than half; the former one stays');
      return;
    }
    stamp = before;
    current = next;
    report(log, path, current);
  };

  return {
    lists(addresses) {
      if (now() - checkedAt >= POLICY.sanctionsListCheckSeconds * 1_000) {
        checkedAt = now();
        try {
          reload();
        } catch (error) {
          log.error({ path, problem: (error as Error).message }, 'sanctions list cannot be read; the former one stays');
        }
      }
      return addresses.some((address) => current.addresses.has(address));
    },
    size: () => current.addresses.size,
  };
}

/** Tells one version of a file from another. */
function stampOf(path: string): string {
  const { mtimeMs, size, ino } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

function report(log: Logger, path: string, { addresses, foreign, malformed }: ParsedList): void {
  log.info({ path, addresses: addresses.size, foreign }, 'sanctions list loaded');
  if (malformed.length > 0)
    log.warn({ path, count: malformed.length, lines: malformed.slice(0, SHOWN_LINES) }, 'sanctions list holds lines without an address');
}

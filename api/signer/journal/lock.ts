import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const NAME = 'lock';
const GONE = 'gone';
/** How often the holder renews its sign of life. */
const BEAT_MILLISECONDS = 2_000;
/** A lock without a sign of life for this long, by the clock of the process that waits, belongs to a dead process. */
const STALE_MILLISECONDS = 12_000;
const LOOK_MILLISECONDS = 250;

/** Who holds the lock: a process of this very machine can be looked for at once, of others only its beats are seen. */
interface Holder {
  token: string;
  host: string;
  /** The process ids that `pid` is one of; empty where the machine does not tell. */
  space: string;
  pid: number;
  /** When that process began, in the machine's ticks: process ids are used again. */
  began: string;
}

/** Holds a folder for one process, also against one on another machine that has the same folder. */
export interface FolderLock {
  /** Whether it is still ours: another process may have taken it while this one stood still. */
  isOurs(): boolean;
  release(): void;
}

/**
 * Takes the lock of a folder, from a process that died as well: at once where that can be seen, after 12 s without a sign of life where it
 * cannot. Answers null while another process holds it.
 */
export async function takeLock(folder: string): Promise<FolderLock | null> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, NAME);
  const own: Holder = { token: randomUUID(), host: hostname(), ...myself() };
  try {
    writeFileSync(path, JSON.stringify(own), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
    if (!(await isAbandoned(path))) return null;
    const mine = `${path}.${own.token}`;
    writeFileSync(mine, JSON.stringify(own), { mode: 0o600 });
    renameSync(mine, path);
    // Another process that waited may have written its own lock: the last writer holds it, and the others see that.
    await pause(LOOK_MILLISECONDS);
    if (read(path)?.token !== own.token) return null;
  }
  const isOurs = (): boolean => read(path)?.token === own.token;
  const beat = setInterval(() => {
    if (!isOurs()) return clearInterval(beat);
    const now = new Date();
    utimesSync(path, now, now);
  }, BEAT_MILLISECONDS);
  beat.unref();
  return {
    isOurs,
    release() {
      clearInterval(beat);
      if (isOurs()) rmSync(path, { force: true });
    },
  };
}

async function isAbandoned(path: string): Promise<boolean> {
  const holder = read(path);
  const me = myself();
  if (holder !== null && holder.host === hostname() && holder.space === me.space) return !isRunning(holder);
  const before = touched(path);
  if (before === GONE) return true;
  for (let waited = 0; waited < STALE_MILLISECONDS; waited += LOOK_MILLISECONDS) {
    await pause(LOOK_MILLISECONDS);
    if (touched(path) !== before) return false;
  }
  return true;
}

/** What changes with every beat. */
function touched(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? GONE : `${stat.ino} ${stat.mtimeMs}`;
}

function read(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    // The file is absent, or its owner is just writing it: there is no process to ask about.
    return null;
  }
}

function isRunning({ pid, began }: Holder): boolean {
  if (pid === process.pid) return began === myself().began;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
  const now = beganAt(pid);
  return now === '' || began === '' || now === began;
}

function myself(): Pick<Holder, 'space' | 'pid' | 'began'> {
  return { space: spaceOfIds(), pid: process.pid, began: beganAt(process.pid) };
}

/** Containers of one machine count their processes apart; only Linux says so. */
function spaceOfIds(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

/** The 22nd field of /proc/<pid>/stat (proc(5)): the second one is a name in brackets that may hold anything. */
function beganAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

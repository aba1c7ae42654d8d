import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const NAME = 'lock';
const GONE = 'gone';
/** How often the holder touches the lock file to show that it lives. */
const BEAT_MILLISECONDS = 2_000;
/** A lock file untouched for this long belongs to a dead process. The waiting process measures this by its own clock. */
const STALE_MILLISECONDS = 12_000;
const LOOK_MILLISECONDS = 250;

/** The process that holds the lock. On the same machine the process itself can be checked; on another one only the beats of the lock file are seen. */
interface Holder {
  token: string;
  host: string;
  /** The namespace that `pid` belongs to; empty where the machine does not say. */
  space: string;
  pid: number;
  /** When the process began, in clock ticks since boot, because process ids are reused. */
  began: string;
}

/** A lock that reserves a folder for one process, even if several machines share the folder. */
export interface FolderLock {
  /** Whether this process still holds the lock: another one may have taken it while this one was suspended. */
  isOurs(): boolean;
  release(): void;
}

/**
 * Takes the lock of a folder; returns null while another process holds it.
 * The lock of a dead process is taken over: at once when this machine can see that the process is dead, otherwise after 12 s without a sign of
 * life.
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
    // Another waiting process may have written its own lock too. The last to write holds it; the others read it back and see that.
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

/** A text that changes with every beat. */
function touched(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? GONE : `${stat.ino} ${stat.mtimeMs}`;
}

function read(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    // The file is missing, or its owner is just writing it: there is no process to check.
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

/** Containers on one machine number their processes separately, and only Linux tells them apart. */
function spaceOfIds(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

/** Field 22 of /proc/<pid>/stat (proc(5)). Counting starts after the last bracket, because field 2 is a name in brackets that may contain anything. */
function beganAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

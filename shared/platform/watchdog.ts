import { url as debuggerUrl } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';

/** How often the event loop has to show that it turns. */
const BEAT_MS = 250;
/** CPU time without a beat. As long as the leases of this process last without it: what it still computes after that is somebody else's work. */
const BLOCKED_MS = 5_000;
/** A heap this full is one that the garbage collector no longer empties. */
const FULLEST = 0.92;
const FULL_MS = 5_000;

/**
 * Counts what the process has computed since its last beat, and never the time: a process that was stopped, a machine that slept, or
 * one that is too busy to run it, computes nothing. It counts all threads (`getrusage`), of which only the loop's own can be busy for
 * long while no beat comes. A machine that is halted from outside, for a snapshot or to be moved, does not know it, and charges whoever was
 * running with all of that time: one turn of the guard adds no more than two turns take. SIGKILL, because a blocked loop runs no handler.
 */
export const GUARD = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const beats = new Int32Array(workerData.beats);
const computedMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
let last = -1;
let lastMs = computedMs();
let blockedMs = 0;
setInterval(() => {
  const now = Atomics.load(beats, 0);
  const ms = computedMs();
  blockedMs = now === last ? blockedMs + Math.min(ms - lastMs, 2 * workerData.everyMs) : 0;
  [last, lastMs] = [now, ms];
  if (blockedMs < workerData.blockedMs) return;
  writeSync(2, JSON.stringify({ level: 60, time: new Date().toISOString(), component: workerData.component, pid: process.pid, msg: workerData.message }) + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, workerData.everyMs);`;

export interface WatchdogLimits {
  beatMs?: number;
  blockedMs?: number;
  fullMs?: number;
  /** Part of the heap's limit that is in use; from 0 to 1. */
  heapUsed?(): number;
}

/**
 * Ends a process that does not do its work any more, so that whatever restarts it can, and others take over what it held
 * (reliability F47): with SIGKILL when its event loop has computed for 5 s without a turn, and in an orderly way, by an uncaught exception
 * out of a timer, when its heap has been nearly full for 5 s. One that merely is not scheduled, or waits, is left alone: to end it would
 * only make a starved host busier (decision 0030). Does nothing under a debugger. The answer ends the watch.
 */
export function startWatchdog(component: string, limits: WatchdogLimits = {}): () => Promise<void> {
  const { beatMs = BEAT_MS, blockedMs = BLOCKED_MS, fullMs = FULL_MS, heapUsed = shareOfHeap } = limits;
  if (debuggerUrl() !== undefined) return async () => undefined;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  let full = 0;
  const timer = setInterval(() => {
    Atomics.add(beats, 0, 1);
    full = heapUsed() >= FULLEST ? full + 1 : 0;
    if (full * beatMs >= fullMs) {
      full = 0;
      throw new Error(`the heap has been full to ${FULLEST * 100} % for ${fullMs / 1_000} s`);
    }
  }, beatMs);
  timer.unref();
  const message = `the event loop was blocked for ${blockedMs / 1_000} s of computing; ending this process`;
  const workerData = { beats: beats.buffer, blockedMs, everyMs: beatMs, component, message };
  // No options of the process: what it preloads for itself is none of the guard's.
  const guard = new Worker(GUARD, { eval: true, workerData, execArgv: [], env: {}, name: 'watchdog', resourceLimits: { maxOldGenerationSizeMb: 16 } });
  guard.unref();
  return async () => {
    clearInterval(timer);
    await guard.terminate();
  };
}

function shareOfHeap(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / limit;
}

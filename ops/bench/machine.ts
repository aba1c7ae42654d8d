import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** Clock ticks of the kernel per second, as /proc counts them; 100 on every Linux in use. */
const TICKS = 100;
const PAGE_BYTES = 4_096;

/** What the figures were measured on. */
export interface Machine {
  cores: number;
  model: string;
  memoryGib: number;
  node: string;
}

export function machine(): Machine {
  const [first] = cpus();
  return { cores: cpus().length, model: first?.model ?? 'unknown', memoryGib: Math.round(totalmem() / 2 ** 30), node: process.version };
}

/** Seconds of CPU a process has used, and its resident memory; zeros where there is no /proc. */
export function usageOf(pid: number): { cpuSeconds: number; rssMib: number } {
  try {
    // The name in parentheses may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS, rssMib: (Number(fields[21]) * PAGE_BYTES) / 2 ** 20 };
  } catch {
    return { cpuSeconds: 0, rssMib: 0 };
  }
}

interface Cpu {
  busy: number;
  steal: number;
  all: number;
}

/** How the machine's CPU was spent since a reading: shares of 1; `steal` is what the hypervisor took. */
export function cpuSince(before: Cpu): { busy: number; steal: number } {
  const now = readCpu();
  const all = Math.max(1, now.all - before.all);
  return { busy: (now.busy - before.busy) / all, steal: (now.steal - before.steal) / all };
}

/** A reading of the machine's CPU counters. */
export function readCpu(): Cpu {
  try {
    const numbers = (/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '').split(' ').map(Number);
    const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = numbers;
    const busy = user + nice + system + irq + softirq;
    return { busy, steal, all: busy + idle + iowait + steal };
  } catch {
    return { busy: 0, steal: 0, all: 0 };
  }
}

/** The most memory a process ever had resident; 0 where there is no /proc. */
export function peakRssMib(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return 0;
  }
}

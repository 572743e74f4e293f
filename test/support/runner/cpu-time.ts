/** CPU time of this process and of the processes that it has waited for. */
import { readFileSync } from 'node:fs';

/** Of a clock tick in `/proc`: USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** On systems other than Linux without the time of other processes. */
export function readCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + readChildrenCpuMs();
}

/** The fields cutime and cstime of proc(5). */
function readChildrenCpuMs(): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

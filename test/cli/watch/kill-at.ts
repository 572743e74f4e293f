/**
 * Loaded before a command with `node --import`: kills the process, as `kill -9` does, at step
 * number KILL_AT. A step is a call that changes files below KILL_FOLDER, flushes a file or sends a
 * request, or the moment before a response is read.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env['KILL_AT']);
const folder = process.env['KILL_FOLDER'] ?? '';
let calls = 0;

function step(): void {
  calls += 1;
  if (calls === at) process.kill(process.pid, 'SIGKILL');
}

type Call = (...args: readonly unknown[]) => unknown;

// The cast: each is replaced with a function of the same parameters and result.
const calling = fs as unknown as Record<string, Call>;
for (const name of [
  'mkdirSync', 'renameSync', 'rmSync', 'rmdirSync', 'linkSync', 'writeFileSync', 'chmodSync',
  'fsyncSync',
]) {
  const call = calling[name];
  if (!call) throw new Error(`fs.${name} does not exist`);
  calling[name] = (...args) => {
    if (typeof args[0] !== 'string' || args[0].startsWith(folder)) step();
    return call(...args);
  };
}
syncBuiltinESMExports();

const send = globalThis.fetch;
globalThis.fetch = async (...args) => {
  step();
  const response = await send(...args);
  step();
  return response;
};

/**
 * Loaded before a command (`node --import`): kills its process, as `kill -9` does, before call
 * number KILL_AT of those that change files below KILL_FOLDER, flush something, or send a request,
 * and before the response of a request is read.
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

// The cast: they are replaced by functions with the same parameters and results.
const calling = fs as unknown as Record<string, Call>;
for (const name of [
  'mkdirSync', 'renameSync', 'rmSync', 'rmdirSync', 'linkSync', 'writeFileSync', 'chmodSync',
  'fsyncSync',
]) {
  const call = calling[name];
  if (!call) throw new Error(`fs.${name} is gone`);
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

#!/usr/bin/env node
/**
 * The command line, `seller-api`: runs the command of its arguments with the streams, environment
 * and signals of this process. Exit status 0 (success), 1 (failure) or 2 (invalid arguments).
 */
import { run } from './cli/run.ts';
// @ts-expect-error Plain JavaScript without declarations, as the launcher needs it.
import { replaceServerProcess } from './server-process.js';

await replaceServerProcess(); // done already if `seller-api.js` has started this
const args = process.argv.slice(2);
// The reader is gone (`... | head`, a log that was closed): no reason to stop a server.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`Standard output cannot be written: ${error.code ?? error.message}\n`);
  process.exit(1);
});
process.stderr.on('error', () => {}); // nowhere left to report to
if (args[0] === 'serve') {
  process.on('SIGUSR2', () => {}); // by default it would end a server that is still starting
  // By default Node would open a debugger, through which any local user could run code here.
  process.on('SIGUSR1', () => {});
}
process.exitCode = await run(args, process);

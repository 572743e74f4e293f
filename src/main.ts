#!/usr/bin/env node
/**
 * The command line, `seller-api`: runs the command of its arguments with the streams, environment
 * and signals of this process. Exit status 0 (success), 1 (failure) or 2 (invalid arguments).
 */
import { run } from './cli/run.ts';
// @ts-expect-error Plain JavaScript without declarations, as the launcher needs it.
import { handleSignals, replaceServerProcess } from './server-process.js';

handleSignals(); // both done already if `seller-api.js` has started this
await replaceServerProcess();
// The reader is gone (`... | head`, a closed log or terminal): no reason to stop a server.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY)) return;
  process.stderr.write(`Standard output cannot be written: ${error.code ?? error.message}\n`);
  process.exit(1);
});
process.stderr.on('error', () => {}); // nowhere left to report to
process.exitCode = await run(process.argv.slice(2), process);

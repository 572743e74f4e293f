#!/usr/bin/env node
/**
 * Starts the command line, `main.ts`. It is plain JavaScript, so that a Node too old for the
 * TypeScript of this project can parse it and say what it needs.
 */
import { handleSignals, replaceServerProcess } from './server-process.js';

const { version, versions } = process;
const [major, minor] = versions.node.split('.').map(Number);
if (major > 24 || (major === 24 && minor >= 15)) {
  handleSignals();
  await replaceServerProcess();
  await import('./main.ts');
} else {
  process.stderr.write(`Node 24.15 or newer is needed, and this is ${version}. Update Node, or run`
    + ' "make run" in a clone of the project, which downloads a Node of its own.\n');
  process.exitCode = 2;
}

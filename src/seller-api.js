#!/usr/bin/env node
/**
 * Starts the command line, `main.ts`. It is plain JavaScript, so that a Node too old for the
 * TypeScript of this project can parse it and say what it needs.
 */
import { nodeProblem } from './node-version.js';
import { handleSignals, replaceServerProcess } from './server-process.js';

if (nodeProblem === undefined) {
  handleSignals();
  await replaceServerProcess();
  await import('./main.ts');
} else {
  process.stderr.write(`${nodeProblem} Update Node, or run "make run" in a clone of the project,`
    + ' which downloads a Node of its own.\n');
  process.exitCode = 2;
}

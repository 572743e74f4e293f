#!/usr/bin/env node
/**
 * Starts the command line, `cli/command-line.ts`. A server first replaces its process by one with
 * the right Node options. Nothing else is loaded before that, since it would be loaded twice.
 */
import { reexecWithNodeOptions } from './cli/node-runtime.ts';

if (process.argv[2] === 'serve') reexecWithNodeOptions();
const { runCommandLine } = await import('./cli/command-line.ts');
await runCommandLine(process.argv.slice(2));

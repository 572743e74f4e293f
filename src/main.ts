#!/usr/bin/env node
/** The command line: one line a command. Exit status 0, 1 (it failed) or 2 (not understood). */
import { inspect } from 'node:util';
import {
  assertNoKey, type Command, CommandFailure, formatHelp, parseInput, UsageError,
} from './cli/command.ts';
import { restartForServing } from './cli/restart.ts';
import { AppError } from './domain/error.ts';

const commands = new Map<string, () => Promise<Command>>(Object.entries({
  serve: async () => (await import('./cli/serve.ts')).serve,
  'seller create': async () => (await import('./cli/seller.ts')).createSeller,
  'seller invite': async () => (await import('./cli/invite.ts')).inviteSeller,
  'seller list': async () => (await import('./cli/seller.ts')).listSellers,
  'seller disable': async () => (await import('./cli/seller.ts')).disableSeller,
  'seller enable': async () => (await import('./cli/seller.ts')).enableSeller,
  'seller reset-password': async () => (await import('./cli/account-reset.ts')).resetPassword,
  'seller reset-totp': async () => (await import('./cli/account-reset.ts')).resetTotp,
  'key create': async () => (await import('./cli/key.ts')).createKey,
  'key list': async () => (await import('./cli/key.ts')).listKeys,
  'key rotate': async () => (await import('./cli/key.ts')).rotateKey,
  'key revoke': async () => (await import('./cli/key.ts')).revokeKey,
  import: async () => (await import('./cli/import.ts')).importProducts,
  export: async () => (await import('./cli/export.ts')).exportProducts,
  doctor: async () => (await import('./cli/doctor.ts')).doctor,
  backup: async () => (await import('./cli/backup.ts')).backupCatalogue,
  restore: async () => (await import('./cli/restore.ts')).restoreCatalogue,
  demo: async () => (await import('./cli/demo.ts')).demo,
}));

const args = process.argv.slice(2);
// Whoever read it has gone (`... | head`, a log that ended): no reason to end a server.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`Standard output cannot be written: ${error.code ?? error.message}\n`);
  process.exit(1);
});
process.stderr.on('error', () => {}); // nobody can be told
if (args[0] === 'serve') {
  restartForServing();
  process.on('SIGUSR2', () => {}); // it would end a server that is still starting
  // Node would open a debugger, through which every user of the machine could run code here.
  process.on('SIGUSR1', () => {});
}
try {
  await run(args);
} catch (error) {
  process.exitCode = explain(error);
}

async function run(words: readonly string[]): Promise<void> {
  assertNoKey(words);
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((text) => commands.has(text));
  const load = commands.get(name ?? '');
  if (name === undefined || !load) {
    if (words.length === 0) throw new UsageError('Name a command.');
    if (!words.includes('--help')) throw new UsageError(`"${words.join(' ')}" is not a command.`);
    process.stdout.write(`${await formatOverview()}\n`);
    return;
  }
  const command = await load();
  const input = parseInput(command, words.slice(name.split(' ').length), process.env);
  if (input) await command.run(input);
  else process.stdout.write(`${formatHelp(name, command)}\n`);
}

async function formatOverview(): Promise<string> {
  const lines = await Promise.all([...commands].map(async ([name, load]) =>
    `  ${name.padEnd(21)} ${(await load()).summary}`));
  const usage = 'Usage: seller-api COMMAND [FLAGS]';
  return `${usage}\n\n${lines.join('\n')}\n\nEach command explains its flags with --help.`;
}

/** Says what went wrong in one line, and returns the exit status. */
function explain(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message} Add --help to see what there is.\n`);
    return 2;
  }
  if (error instanceof AppError && error.code === 'invalid_data') {
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
  const isOurs = error instanceof CommandFailure
    || (error instanceof AppError && error.code !== 'internal');
  const isSystem = error instanceof Error && 'syscall' in error;
  const isKnown = isOurs || isSystem;
  process.stderr.write(`${isKnown ? error.message : inspect(error)}\n`);
  return 1;
}

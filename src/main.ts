#!/usr/bin/env node
/**
 * The command line, `seller-api`: finds the command, runs it and explains its failure in one line.
 * Exit status 0 (success), 1 (failure) or 2 (invalid arguments).
 */
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import {
  assertNoKey, type Command, CommandFailure, type CommandTable, findNearest, formatHelp, parseInput,
  runCommand, UsageError,
} from './cli/command.ts';
import { printableLines } from './cli/printable.ts';
import { AppError } from './domain/error.ts';
// @ts-expect-error Plain JavaScript without declarations, as the launcher needs it.
import { replaceServerProcess } from './server-process.js';

const commands: CommandTable = new Map<string, () => Promise<Command>>(Object.entries({
  serve: async () => (await import('./cli/serve/serve.ts')).serve,
  'seller create': async () => (await import('./cli/admin/seller.ts')).createSeller,
  'seller invite': async () => (await import('./cli/admin/invite.ts')).inviteSeller,
  'seller list': async () => (await import('./cli/admin/seller.ts')).listSellers,
  'seller disable': async () => (await import('./cli/admin/seller.ts')).disableSeller,
  'seller enable': async () => (await import('./cli/admin/seller.ts')).enableSeller,
  'seller reset-password': async () => (await import('./cli/admin/seller.ts')).resetPassword,
  'seller reset-totp': async () => (await import('./cli/admin/seller.ts')).resetTotp,
  'key create': async () => (await import('./cli/admin/key.ts')).createKey,
  'key list': async () => (await import('./cli/admin/key.ts')).listKeys,
  'key rotate': async () => (await import('./cli/admin/key.ts')).rotateKey,
  'key revoke': async () => (await import('./cli/admin/key.ts')).revokeKey,
  import: async () => (await import('./cli/transfer/import.ts')).importProducts,
  export: async () => (await import('./cli/transfer/export.ts')).exportProducts,
  'products list': async () => (await import('./cli/remote/products.ts')).listProducts,
  'products get': async () => (await import('./cli/remote/products.ts')).getProduct,
  'products set': async () => (await import('./cli/remote/products.ts')).setProduct,
  'stock sync': async () => (await import('./cli/transfer/stock-sync.ts')).syncStock,
  'stock set': async () => (await import('./cli/remote/stock.ts')).setStock,
  'imports list': async () => (await import('./cli/remote/imports.ts')).listImports,
  'imports show': async () => (await import('./cli/remote/imports.ts')).showImport,
  revert: async () => (await import('./cli/remote/revert.ts')).revertChanges,
  'changes tail': async () => (await import('./cli/remote/changes.ts')).tailChanges,
  'webhook list': async () => (await import('./cli/remote/webhook.ts')).listWebhooks,
  'webhook listen': async () =>
    (await import('./cli/remote/webhook-listen.ts')).listenForWebhooks,
  'webhook test': async () => (await import('./cli/remote/webhook.ts')).testWebhook,
  status: async () => (await import('./cli/remote/status.ts')).showStatus,
  open: async () => (await import('./cli/remote/portal.ts')).openPortal,
  openapi: async () => (await import('./cli/remote/openapi.ts')).printOpenApi,
  'profile add': async () => (await import('./cli/remote/profile.ts')).addProfile,
  'profile list': async () => (await import('./cli/remote/profile.ts')).listProfiles,
  'profile remove': async () => (await import('./cli/remote/profile.ts')).removeProfile,
  migrate: async () => (await import('./cli/admin/migrate.ts')).migrate,
  doctor: async () => (await import('./cli/admin/doctor.ts')).doctor,
  backup: async () => (await import('./cli/backup/backup.ts')).backupCatalogue,
  restore: async () => (await import('./cli/backup/backup.ts')).restoreCatalogue,
  'move-to': async () => (await import('./cli/admin/move-to.ts')).moveTo,
  demo: async () => (await import('./cli/serve/demo.ts')).demo,
  completion: async () => (await import('./cli/completion.ts')).createCompletion(commands),
}));

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
/** Whether the command has printed its one JSON document, which then also reports the failure. */
let hasPrinted = false;
try {
  await run(args);
} catch (error) {
  // Not loaded if the process cannot open more files, which may be why the command failed.
  const client = await import('./cli/remote/api-error.ts').catch(() => undefined);
  const { status, detail } = explain(client ? client.explainFailure(error) : error);
  process.stderr.write(`${printableLines(detail)}\n`);
  const isJson = args.includes('--json') && !hasPrinted;
  const problem = client?.findProblem(error);
  if (isJson) print(JSON.stringify({ error: { detail, exit_status: status, problem } }));
  process.exitCode = status;
}

async function run(words: readonly string[]): Promise<void> {
  assertNoKey(words);
  const [first = '', second] = words;
  if (first === '--version') return print(describeVersion(words.includes('--json')));
  if (first === '-h' || first === 'help') return run([...words.slice(1), '--help']);
  const name = [`${first} ${second}`, first].find((text) => commands.has(text));
  const load = commands.get(name ?? '');
  if (name === undefined || !load) return print(await formatOverview(words));
  const command = await load();
  const input = parseInput(command, words.slice(name.split(' ').length), process.env);
  if (!input) return print(formatHelp(name, command));
  await runCommand(command, {
    ...input,
    out(text) {
      hasPrinted ||= !command.isStream;
      input.out(text);
    },
  });
}

/** Lists all commands, or those of a group such as `key`. @throws UsageError */
async function formatOverview(words: readonly string[]): Promise<string> {
  const [first = ''] = words;
  if (words.length === 0) throw new UsageError('Name a command.');
  const typed = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const isGroup = typed.length === 1 && first === typed[0] && listGroups().includes(first);
  const isHelp = words.includes('--help') || words.includes('-h');
  if (!isGroup && !(isHelp && typed.length === 0)) throw noSuchCommand(words, typed);
  const names = [...commands.keys()].filter((name) => !isGroup || name.startsWith(`${first} `));
  const lines = await Promise.all(names.map(async (name) =>
    `  ${name.padEnd(21)} ${(await commands.get(name)?.())?.summary}`));
  const usage = `Usage: seller-api ${isGroup ? `${first} ` : ''}COMMAND [FLAGS]`;
  return `${usage}\n\n${lines.join('\n')}\n\nRun a command with --help to see its flags.`;
}

function listGroups(): string[] {
  return [...commands.keys()].flatMap((name) => name.split(' ').slice(0, -1));
}

function noSuchCommand(words: readonly string[], typed: readonly string[]): UsageError {
  const [first = ''] = typed;
  const nearest = findNearest(typed.join(' '), commands.keys())
    ?? findNearest(first, [...commands.keys(), ...listGroups()].filter((name) => name !== first));
  const own = [...commands.keys()].filter((name) => name.startsWith(`${first} `));
  const hint = nearest !== undefined ? ` Did you mean "${nearest}"?`
    : own.length > 0 ? ` Commands: ${own.join(', ')}.` : '';
  return new UsageError(`"${words.join(' ')}" is not a command.${hint}`);
}

function describeVersion(isJson: boolean): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  // The cast: our own manifest has both.
  const { name, version } = JSON.parse(manifest) as Readonly<Record<'name' | 'version', string>>;
  const node = process.version;
  return isJson ? JSON.stringify({ version, node }) : `${name} ${version} (Node ${node})`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The reason for a failure, in one line if it is an expected one, and the exit status. */
function explain(error: unknown): { readonly status: number; readonly detail: string } {
  if (error instanceof UsageError) {
    return { status: 2, detail: `${error.message} Run with --help for usage.` };
  }
  if (error instanceof AppError && error.code === 'invalid_data') {
    return { status: 2, detail: error.message };
  }
  const isOurs = error instanceof CommandFailure
    || (error instanceof AppError && error.code !== 'internal');
  const isSystem = error instanceof Error && 'syscall' in error;
  const status = error instanceof CommandFailure ? error.exitStatus : 1;
  return { status, detail: isOurs || isSystem ? error.message : inspect(error) };
}

/**
 * The table of all commands, and how one is run: finds it, runs it and explains its failure in one
 * line. Uses nothing of the process but what `io` gives it, except for `serve`, `demo` and the exit
 * of a command that a signal interrupts.
 */
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { AppError } from '../domain/error.ts';
import {
  type Command, CommandFailure, type CommandIo, type CommandTable, findNearest, formatHelp,
  parseInput, runCommand, UsageError,
} from './command.ts';
import { printableLines } from './printable.ts';

const commands: CommandTable = new Map<string, () => Promise<Command>>(Object.entries({
  serve: async () => (await import('./serve/serve.ts')).serve,
  'seller create': async () => (await import('./admin/seller.ts')).createSeller,
  'seller invite': async () => (await import('./admin/invite.ts')).inviteSeller,
  'seller list': async () => (await import('./admin/seller.ts')).listSellers,
  'seller disable': async () => (await import('./admin/seller.ts')).disableSeller,
  'seller enable': async () => (await import('./admin/seller.ts')).enableSeller,
  'seller reset-password': async () => (await import('./admin/seller.ts')).resetPassword,
  'seller reset-totp': async () => (await import('./admin/seller.ts')).resetTotp,
  'key create': async () => (await import('./admin/key.ts')).createKey,
  'key list': async () => (await import('./admin/key.ts')).listKeys,
  'key rotate': async () => (await import('./admin/key.ts')).rotateKey,
  'key revoke': async () => (await import('./admin/key.ts')).revokeKey,
  import: async () => (await import('./transfer/import.ts')).importProducts,
  export: async () => (await import('./transfer/export.ts')).exportProducts,
  'products list': async () => (await import('./remote/products.ts')).listProducts,
  'products get': async () => (await import('./remote/products.ts')).getProduct,
  'products set': async () => (await import('./remote/products.ts')).setProduct,
  'stock sync': async () => (await import('./transfer/stock-sync.ts')).syncStock,
  'stock set': async () => (await import('./remote/stock.ts')).setStock,
  'imports list': async () => (await import('./remote/imports.ts')).listImports,
  'imports show': async () => (await import('./remote/imports.ts')).showImport,
  revert: async () => (await import('./remote/revert.ts')).revertChanges,
  'changes tail': async () => (await import('./remote/changes.ts')).tailChanges,
  'webhook list': async () => (await import('./remote/webhook.ts')).listWebhooks,
  'webhook listen': async () =>
    (await import('./remote/webhook-listen.ts')).listenForWebhooks,
  'webhook test': async () => (await import('./remote/webhook.ts')).testWebhook,
  status: async () => (await import('./remote/status.ts')).showStatus,
  open: async () => (await import('./remote/portal.ts')).openPortal,
  openapi: async () => (await import('./remote/openapi.ts')).printOpenApi,
  'profile add': async () => (await import('./remote/profile.ts')).addProfile,
  'profile list': async () => (await import('./remote/profile.ts')).listProfiles,
  'profile remove': async () => (await import('./remote/profile.ts')).removeProfile,
  migrate: async () => (await import('./admin/migrate.ts')).migrate,
  doctor: async () => (await import('./admin/doctor.ts')).doctor,
  backup: async () => (await import('./backup/backup.ts')).backupCatalogue,
  restore: async () => (await import('./backup/backup.ts')).restoreCatalogue,
  'move-to': async () => (await import('./admin/move-to.ts')).moveTo,
  demo: async () => (await import('./serve/demo.ts')).demo,
  completion: async () => (await import('./completion.ts')).createCompletion(commands),
}));

/** Returns the exit status of the command: 0, 1 (failure) or 2 (invalid arguments). */
export async function run(words: readonly string[], io: CommandIo): Promise<number> {
  /** Whether the command has printed its one JSON document, which then also reports the failure. */
  let hasPrinted = false;
  try {
    await dispatch(words, io, () => { hasPrinted = true; });
    return 0;
  } catch (error) {
    // Not loaded if the process cannot open more files, which may be why the command failed.
    const client = await import('./remote/api-error.ts').catch(() => undefined);
    const { status, detail } = explain(client ? client.explainFailure(error) : error);
    io.stderr.write(`${printableLines(detail)}\n`);
    const isJson = words.includes('--json') && !hasPrinted;
    const problem = client?.findProblem(error);
    if (isJson) print(io, JSON.stringify({ error: { detail, exit_status: status, problem } }));
    return status;
  }
}

async function dispatch(
  words: readonly string[], io: CommandIo, onPrinted: () => void,
): Promise<void> {
  assertNoKey(words);
  const [first = '', second] = words;
  if (first === '--version') return print(io, describeVersion(words.includes('--json')));
  if (first === '-h' || first === 'help') {
    return dispatch([...words.slice(1), '--help'], io, onPrinted);
  }
  const name = [`${first} ${second}`, first].find((text) => commands.has(text));
  const load = commands.get(name ?? '');
  if (name === undefined || !load) return print(io, await formatOverview(words));
  const command = await load();
  const input = parseInput(command, words.slice(name.split(' ').length), io);
  if (!input) return print(io, formatHelp(name, command));
  await runCommand(command, {
    ...input,
    out(text) {
      if (!command.isStream) onPrinted();
      input.out(text);
    },
  });
}

/**
 * Rejects an API key among the arguments of any command, without repeating it.
 * @throws UsageError
 */
function assertNoKey(args: readonly string[]): void {
  if (!args.some((text) => /spk_[0-9A-Za-z]{20}/.test(text))) return;
  throw new UsageError('One of the arguments is an API key. It is now in your shell history,'
    + ' and other users could see it: revoke it with "key revoke". Pass its replacement in the'
    + ' variable SELLER_API_KEY, or in a file with --key-file.');
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
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  // The cast: our own manifest has both.
  const { name, version } = JSON.parse(manifest) as Readonly<Record<'name' | 'version', string>>;
  const node = process.version;
  return isJson ? JSON.stringify({ version, node }) : `${name} ${version} (Node ${node})`;
}

function print({ stdout }: CommandIo, text: string): void {
  stdout.write(`${text}\n`);
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

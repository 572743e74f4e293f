/** Copies the files of a clone of the project, and runs make there, without a network. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

export const ROOT = join(import.meta.dirname, '../..');
export const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
export const FILES = [
  'package.json', 'package-lock.json', '.npmrc', '.toolchain', 'Makefile', 'LICENSE',
  'tsconfig.json', ...MANIFEST.files,
] as string[];

/** A clone without its history, which packing and listing must not need. */
export function copyClone(folder: string, files = FILES): string {
  mkdirSync(folder);
  for (const file of files) {
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  }
  return folder;
}

/** Makes a target with the development packages of this project. */
export function make(clone: string, target: string, umask = '022'): Promise<string> {
  const modules = join(clone, 'node_modules');
  if (!existsSync(modules)) symlinkSync(join(ROOT, 'node_modules'), modules);
  const line = `umask ${umask}; exec make -s -o node_modules ${target} NODE="$0"`;
  return runOffline(clone, 'sh', ['-c', line, process.execPath]);
}

/** Makes the package, and returns its path. */
export async function pack(clone: string, umask?: string): Promise<string> {
  return join(clone, (await make(clone, 'pack', umask)).trim());
}

/** Runs a program on the Node of this test. npm has no network, an empty cache and no settings. */
export async function runOffline(
  folder: string, program: string, args: readonly string[],
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: folder,
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
      HOME: join(folder, '..', 'home'), npm_config_offline: 'true', npm_config_fund: 'false',
    },
  });
  return stdout;
}

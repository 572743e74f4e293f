/**
 * Installs packages from the registry into a temporary folder, for tests of what users combine with
 * this project. Versions are exact, install scripts do not run, and the test is skipped when npm
 * cannot reach a registry.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
/** npm errors that mean: no registry, or none that this machine may ask. */
const UNREACHABLE = new RegExp('\\b(?:ENOENT|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT'
  + '|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|E401|E403|E407|ERR_SOCKET_TIMEOUT)\\b');

/**
 * Installs `name@1.2.3` and paths of `.tgz` files into the project in `folder`, which is created
 * with a `package.json` if it has none. Returns false, with the test skipped, without a registry.
 */
export async function installPackages(
  t: Pick<TestContext, 'skip'>, folder: string, names: readonly string[],
): Promise<boolean> {
  for (const name of names) assert.match(name, /@\d+\.\d+\.\d+$|\.tgz$/, 'name an exact version');
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true, "type": "module" }\n');
  try {
    await npm(folder, 'install', '--prefer-offline', '--save-exact', ...FLAGS, ...names);
    return true;
  } catch (error) {
    // The cast: `execFile` rejects with what the program has written.
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (!UNREACHABLE.test(`${code} ${stderr}`)) throw error;
    const missing = code === 'ENOENT' ? 'npm' : 'a package registry';
    t.skip(`needs ${missing} to install ${names.join(' ')}`);
    return false;
  }
}

/** Runs npm on the Node of this process, and returns what it prints. */
export async function npm(folder: string, ...args: readonly string[]): Promise<string> {
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
  const { stdout } = await promisify(execFile)('npm', args, {
    cwd: folder, env: { ...process.env, PATH: path },
  });
  return stdout;
}

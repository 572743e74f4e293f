/**
 * Finds Debian's PostgreSQL, and installs it with apt-get where that is possible. Elsewhere the
 * tests that need it are skipped; with `CI=true` they fail.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** Version 15 or later: the newest that is installed. Undefined if there is none. */
export const POSTGRES_FOLDER = findOrInstall('postgresql', () =>
  globSync('/usr/lib/postgresql/*/bin/initdb').map((path) => path.slice(0, -'/initdb'.length))
    .sort((a, b) => versionOf(a) - versionOf(b)).findLast((path) => versionOf(path) >= 15));

/** For `skip` of tests that need PostgreSQL; false where it is installed. */
export const NO_POSTGRES = POSTGRES_FOLDER === undefined
  && 'NOT TESTED: needs PostgreSQL. On Debian: apt-get install postgresql';

/** PostgreSQL refuses to run as root: then it runs as the user of Debian's package. */
export function findServerUser(): { readonly uid: number; readonly gid: number } {
  const { uid, gid } = userInfo();
  if (uid !== 0) return { uid, gid };
  const [, id, group] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
    ?? [];
  return { uid: Number(id), gid: Number(group) };
}

/** What `look` finds, once the Debian package `name` is installed. */
export function findOrInstall(name: string, look: () => string | undefined): string | undefined {
  const found = look();
  if (found !== undefined) return found;
  const isRoot = userInfo().uid === 0;
  const [command = '', ...args] = [
    ...isRoot ? [] : ['sudo', '--non-interactive'], 'apt-get', '--option',
    'DPkg::Lock::Timeout=120', 'install', '--yes', '--no-install-recommends', name,
  ];
  // The run level of a halted machine: apt-get starts no service.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '0' };
  const { stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  const installed = look();
  if (installed === undefined && process.env['CI'] === 'true') {
    throw new Error(`${name} cannot be installed: ${stderr}`);
  }
  return installed;
}

function versionOf(folder: string): number {
  return Number(/postgresql\/(\d+)/.exec(folder)?.[1]);
}

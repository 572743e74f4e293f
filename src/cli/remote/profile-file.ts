/**
 * Profiles: names for the address of a server and a key. They are in one file that only its owner
 * can read, in the folder of the XDG Base Directory Specification 0.8. Keys are stored in plain
 * text, like an SSH key without a passphrase.
 */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { type ApiKeySecret, parseApiKey } from '../../domain/access/api-key.ts';
import { tryLock } from '../../store/sqlite/files/atomic-file.ts';
import { CommandFailure, type Input, UsageError } from '../command.ts';
import { writeJsonFile } from '../json-file.ts';
import { readSettingFile, readUrl } from '../settings.ts';

interface Profile {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key: ApiKeySecret;
}

type Environment = Input['environment'];

/** Used if a command gets no profile, address or key. */
const DEFAULT_PROFILE = 'default';

export function profilesPath({ XDG_CONFIG_HOME: base = '' }: Environment): string {
  // The specification ignores relative paths.
  const folder = isAbsolute(base) ? base : join(homedir(), '.config');
  return join(folder, 'seller-api', 'profiles.json');
}

/**
 * The profile that the flags and the environment select. A profile is never combined with another
 * address, which would get its key.
 * @throws UsageError, CommandFailure
 */
export function findProfile({ flags, environment }: Input): Profile | undefined {
  const { profile: name, url, 'key-file': keyFile } = flags;
  if (name === undefined) {
    const isGiven = url !== undefined || keyFile !== undefined || environment['SELLER_API_KEY'];
    return isGiven ? undefined : readProfiles(environment).get(DEFAULT_PROFILE);
  }
  // The address may also be that of the environment, which a profile replaces.
  if (keyFile !== undefined || url !== (environment['SELLER_API_URL'] || undefined)) {
    throw new UsageError('A profile has an address and a key of its own. Omit --url and --key-file,'
      + ' or the profile (--profile or SELLER_API_PROFILE).');
  }
  const profiles = readProfiles(environment);
  const profile = profiles.get(name);
  if (profile) return profile;
  const hint = profiles.size === 0 ? '' : ` There are: ${[...profiles.keys()].join(', ')}.`;
  throw new UsageError(`There is no profile "${name}".${hint} Create it: profile add ${name}`);
}

/** All profiles, in the order added. @throws CommandFailure if the file cannot be used */
export function readProfiles(environment: Environment): Map<string, Profile> {
  const path = profilesPath(environment);
  if (!existsSync(path)) return new Map();
  const { text, isPrivate } = readSettingFile(path);
  if (!isPrivate) {
    throw new CommandFailure(`Other users can access ${path}, which contains keys.`
      + ` Run "chmod 600 ${path}", and revoke the keys if others may have read them.`);
  }
  const profiles = parseProfiles(text);
  if (profiles) return profiles;
  throw new CommandFailure(`${path} is damaged. Correct it, or delete it and add your profiles`
    + ' again.');
}

/**
 * Changes the file, or the file that it is a link to.
 * @throws CommandFailure if another process does so now; what `change` throws
 */
export function changeProfiles(
  environment: Environment, change: (profiles: Map<string, Profile>) => void,
): void {
  const path = profilesPath(environment);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  using lock = tryLock(`${path}.lock`);
  if (!lock) throw new CommandFailure('Another command is changing the profiles. Try again.');
  const profiles = readProfiles(environment);
  change(profiles);
  const target = existsSync(path) ? realpathSync(path) : path; // a link stays
  writeJsonFile(target, { profiles: Object.fromEntries(profiles) });
}

/** Undefined if the text is not what `changeProfiles` writes. */
function parseProfiles(text: string): Map<string, Profile> | undefined {
  try {
    const { profiles } = JSON.parse(text);
    return new Map(Object.entries<Partial<Profile>>(profiles).map(([name, profile]) => {
      const [url, key] = [readUrl(profile, 'url'), parseApiKey(String(profile.key))];
      if (url === undefined || !key) throw new TypeError(`Profile ${name} is incomplete.`);
      return [name, { url, key }];
    }));
  } catch {
    return undefined; // the file is written by hand or broken; errors could repeat a key
  }
}

/**
 * `profile add`, `profile list` and `profile remove`. A key is read from standard input, and never
 * printed.
 */
import { parseApiKey } from '../../domain/access/api-key.ts';
import { readSecret } from '../admin/secret-input.ts';
import { type Command, CommandFailure, UsageError } from '../command.ts';
import { listResult } from '../format.ts';
import { readUrl } from '../settings.ts';
import { DEFAULT_URL, URL_FLAG } from './client.ts';
import { changeProfiles, profilesPath, readProfiles } from './profile-file.ts';

/** Can be completed and typed without quotes. */
const NAME = /^\w[\w.-]{0,63}$/;

export const addProfile: Command = {
  summary: 'Saves the address of a server and a key, read from stdin, under a name.',
  operands: ['NAME'],
  flags: { ...URL_FLAG, force: { help: 'replace the profile if it exists' } },
  isRemote: true,
  async run({ operands: [name = ''], flags, environment, io, note }) {
    if (!NAME.test(name)) {
      throw new UsageError('The name of a profile is 1 to 64 letters, digits, "-", "_" or ".".');
    }
    const url = readUrl(flags, 'url') ?? DEFAULT_URL;
    if (readProfiles(environment).has(name) && flags['force'] === undefined) {
      throw new UsageError(`There is a profile "${name}" already. Replace it with --force.`);
    }
    const key = parseApiKey((await readSecret(io.stdin, ['API key'], note)).trim());
    if (!key) {
      throw new CommandFailure('That is not an API key, which is spk_ and 36 characters.'
        + ' Nothing was changed.');
    }
    changeProfiles(environment, (profiles) => void profiles.set(name, { url, key }));
    const path = profilesPath(environment);
    return {
      document: { name, url, file: path },
      text: `Saved profile "${name}" for ${url} in ${path}. Check it: status --profile ${name}`,
    };
  },
};

export const listProfiles: Command = {
  summary: 'Lists the profiles with their addresses; never the keys.',
  isRemote: true,
  async run({ environment }) {
    const rows = [...readProfiles(environment)].map(([name, { url }]) => ({ name, url }));
    return listResult('profiles', rows, 'There is no profile yet. Create one: profile add NAME');
  },
};

export const removeProfile: Command = {
  summary: 'Removes a profile. Its key stays valid until it is revoked.',
  operands: ['NAME'],
  isRemote: true,
  async run({ operands: [name = ''], environment }) {
    changeProfiles(environment, (profiles) => {
      if (!profiles.delete(name)) throw new CommandFailure(`There is no profile "${name}".`);
    });
    return { document: { name }, text: `Removed profile "${name}".` };
  },
};

/** `restore`: puts a backup in the place of the catalogue of the data folder, without a server. */
import { join } from 'node:path';
import { CATALOGUE_FILE_NAME } from '../../store/sqlite/engine/database-file.ts';
import { AtomicFile } from '../../store/sqlite/files/atomic-file.ts';
import { restore, type Restored } from '../../store/sqlite/backup/restore.ts';
import type { Command } from '../command.ts';
import { CopyProgress, describeCatalogue } from './copy-progress.ts';
import { withInterrupt } from '../progress.ts';
import { formatCount, formatMebibytes } from '../format.ts';

export const restoreCatalogue: Command = {
  summary: 'Puts a backup in the place of the catalogue, while no server runs.',
  operands: ['FILE'],
  flags: {
    replace: { help: 'where there is a catalogue: keep it under another name' },
  },
  async run({ operands: [file = ''], flags, dataFolder: folder, isJson, out, note }) {
    const target = new AtomicFile(join(folder, CATALOGUE_FILE_NAME));
    const isReplacing = flags['replace'] !== undefined;
    const startedAt = performance.now();
    const progress = new CopyProgress(note);
    const task = { file, folder, target, isReplacing, at: Date.now() };
    const work = () => restore(task, (state) => progress.show(state));
    const done = await withInterrupt(() => work().finally(() => progress.close()), () => {
      target.discard();
      return `Interrupted: ${folder} is as it was.`;
    });
    const seconds = Math.round(performance.now() - startedAt) / 1000;
    const { sellers, products, changes, version, bytes, kept, secrets } = done;
    const summary = {
      folder, sellers, products, changes, version, bytes, seconds, kept, secrets,
    };
    out(isJson ? JSON.stringify(summary) : `Restored ${describeCatalogue(done)} to ${folder}: `
      + `${formatMebibytes(bytes)} in ${seconds.toFixed(1)} s, found whole.`);
    for (const text of describeConsequences(done)) note(text);
  },
};

function describeConsequences({ kept, secrets: { sealed, opened } }: Restored): string[] {
  const names = kept.join(', ');
  return [
    ...(kept.length === 0 ? [] : [`What was there is kept as ${names}: delete it when you like.`]),
    'What came after the backup is undone: keys that were revoked since are good again (revoke them'
      + ' again), and whoever remembers a position begins anew from an export. Everybody has to'
      + ' sign in to the portal again.',
    ...(opened === sealed ? [] : [
      `${formatCount(sealed - opened)} of ${formatCount(sealed)} secrets of webhooks and one-time`
        + ' codes do not open with the server.key that is there, or is missing. Put the right one'
        + ' into the folder before you start a server; without it, rotate the secrets of webhooks,'
        + ' and sign in with recovery codes.',
    ]),
  ];
}

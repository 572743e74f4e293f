/**
 * `backup`: copies the database of the data folder to a file, while a server serves it or not. The
 * file appears when it was checked; until then it is FILE.PID.part.
 */
import { backUp } from '../store/sqlite/backup.ts';
import { NewFile } from '../store/sqlite/new-file.ts';
import { type Command, UsageError } from './command.ts';
import { CopyProgress, describeCatalogue } from './copy-progress.ts';
import { withInterrupt } from './interrupt.ts';
import { formatMebibytes } from './progress-line.ts';

export const backupCatalogue: Command = {
  summary: 'Copies the database to a file and checks the copy, while a server serves or not.',
  operands: ['FILE'],
  flags: {},
  async run({ operands: [path = ''], dataFolder, isJson, out, note }) {
    // SQLite would take it for a part of another database.
    if (/-(?:wal|shm|journal)$/.test(path)) throw new UsageError(`Choose another name: ${path}.`);
    const target = new NewFile(path);
    const startedAt = performance.now();
    const progress = new CopyProgress(note);
    const work = () => backUp(dataFolder, target, (state) => progress.show(state));
    const made = await withInterrupt(() => work().finally(() => progress.close()), () => {
      target.discard();
      return `Interrupted: ${path} was not written.`;
    });
    const seconds = Math.round(performance.now() - startedAt) / 1000;
    const { version, sellers, products, changes, bytes } = made;
    const summary = { file: path, sellers, products, changes, version, bytes, seconds };
    out(isJson ? JSON.stringify(summary) : `Backed up ${describeCatalogue(made)} to ${path}: `
      + `${formatMebibytes(bytes)} in ${seconds.toFixed(1)} s, read back and found whole.`);
    note('server.key, which opens the secrets of webhooks and of one-time codes, is not in it:'
      + ' keep a copy of it elsewhere.');
  },
};

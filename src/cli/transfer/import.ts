/**
 * `import`: sends a file to a running server, and again if the connection breaks. All attempts
 * share one Idempotency-Key, so the report covers the whole file and no row is written twice.
 */
import { randomUUID } from 'node:crypto';
import { REJECTED_ROWS_SHOWN, RETRY_POLICY } from '../limits.ts';
import { type AdviceWords, RejectionCauses } from '../../transfer/import-advice.ts';
import type { ImportMode, ImportOptions } from '../../client/index.ts';
import { type Command, CommandFailure, type Input } from '../command.ts';
import {
  type RejectedRow, type ImportRun, type ImportSummary, sendImport,
} from './import-run.ts';
import { formatCounted, formatCounts } from '../format.ts';
import { Progress, withInterrupt } from '../progress.ts';
import { TemporaryFailure, withRetries } from '../remote/api-error.ts';
import { openClient, SERVER_FLAGS } from '../remote/client.ts';
import { FORMAT_FLAG, nameFile, openSource } from './product-file.ts';
import { RejectedRowsFile } from './rejected-rows-file.ts';

interface Outcome {
  readonly summary: ImportSummary;
  /** The first rejected rows. */
  readonly shown: readonly RejectedRow[];
  readonly causes: RejectionCauses;
}

/** Advice in terms of this command's flags. */
const WORDS: AdviceWords = {
  giveDefaults: (values) => `Run the command again with --default ${values.join(',')}.`,
  nameColumns: (members) => 'Run the command again with --map '
    + `${members.map((member) => `${member}:COLUMN`).join(',')}, naming the columns.`,
  change: 'To change these products, run the command again with --mode upsert.',
  create: 'To create these products, run the command again with --mode upsert.',
};

const RESUME = 'Imported rows stay. Run the command again to import the rest.';

export const importProducts: Command = {
  summary: 'Imports a CSV or NDJSON file into a running server. If it stops early, run it again.',
  operands: ['FILE|-'],
  flags: {
    ...SERVER_FLAGS,
    format: FORMAT_FLAG,
    mode: {
      value: 'upsert|update|create',
      help: 'create and update products (default), only update, or only create',
    },
    'dry-run': { help: 'change nothing, but report what the import would do' },
    map: { value: 'name:Title,...', help: 'columns of members that are not recognized by name' },
    default: {
      value: 'MEMBER:VALUE,...', help: 'values for blank cells of new products, such as stock:0',
    },
    rejected: {
      value: 'FILE', formerName: 'failures',
      help: 'where to write rejected rows (default: NAME.failed.csv beside FILE)',
    },
  },
  isRemote: true,
  async run(input) {
    const { flags, operands: [path = ''], note } = input;
    const client = openClient(input, { retries: 0 }); // `withRetries` repeats the whole import
    const source = openSource(path, flags['format']);
    const rejected = new RejectedRowsFile(source, flags['rejected']);
    const options = readOptions(flags);
    const task = { client, source, options };
    // A pipe cannot be read again.
    const isRepeatable = source.sizeBytes !== undefined;
    const policy = isRepeatable ? RETRY_POLICY : { ...RETRY_POLICY, retries: 0 };
    const importing = () => withRetries(() => attempt(task, rejected), policy, note);
    const interrupt = (): string => {
      rejected.remove();
      return `Interrupted. ${options.dry_run ? 'Nothing was changed.' : RESUME}`;
    };
    const outcome = await withInterrupt(importing, interrupt)
      .catch(async (error: unknown) => {
        await rejected.discard();
        if (!(error instanceof TemporaryFailure) || options.dry_run) throw error;
        throw new CommandFailure(`${error.message} ${RESUME}`);
      })
      .finally(() => {
        if (path === '-') process.stdin.destroy(); // an open pipe would keep this process alive
      });
    report(input, outcome, source.format, await rejected.end());
  },
};

function readOptions(flags: Input['flags']): ImportOptions {
  const { mode, map, default: defaults } = flags;
  return {
    idempotencyKey: randomUUID(),
    ...(mode !== undefined && { mode: mode as ImportMode }), // the server checks it
    ...(map !== undefined && { map }),
    ...(defaults !== undefined && { default: defaults }),
    ...(flags['dry-run'] !== undefined && { dry_run: true }),
  };
}

/** Sends the file once. Discards the rejected rows of earlier attempts. */
async function attempt(
  task: Omit<ImportRun, 'onSent' | 'onRejected'>, rejected: RejectedRowsFile,
): Promise<Outcome> {
  await rejected.discard();
  const progress = new Progress(process.stderr);
  const shown: RejectedRow[] = [];
  const causes = new RejectionCauses();
  let state = { rows: 0, bytes: 0, sizeBytes: task.source.sizeBytes, rejected: 0 };
  try {
    const summary = await sendImport({
      ...task,
      onSent(rows, bytes) {
        state = { ...state, rows, bytes };
        progress.show(state);
      },
      async onRejected(row) {
        state = { ...state, rejected: state.rejected + 1 };
        if (shown.length < REJECTED_ROWS_SHOWN) shown.push(row);
        causes.add(row.errors);
        await rejected.add(row);
      },
    });
    progress.end(state);
    return { summary, shown, causes };
  } finally {
    progress.close();
  }
}

/** @throws CommandFailure if rows were rejected */
function report(
  input: Input, { summary, shown, causes }: Outcome, format: 'csv' | 'ndjson',
  path: string | undefined,
): void {
  const { isJson, out, note, flags, operands: [source = ''] } = input;
  const { ignoredColumns, ...counts } = summary;
  const advice = causes.advise(WORDS, { format, ignoredColumns });
  const { failed } = counts;
  const what = flags['dry-run'] ? 'Dry run, nothing was changed' : nameFile(source);
  const document = { ...counts, ignored_columns: ignoredColumns, advice };
  if (isJson) out(JSON.stringify({ summary: document, failures_file: path ?? null }));
  else out(`${what}: ${formatCounts(counts)}. The catalogue is at position ${counts.position}.`);
  if (ignoredColumns.length > 0) note(`Ignored columns: ${ignoredColumns.join(', ')}.`);
  if (failed === 0) return;
  for (const { line, sku, reason } of shown) {
    note(`  Line ${line}${sku && `, SKU ${sku}`}: ${reason}`);
  }
  const hint = advice === undefined ? explainRejected(source, path, Boolean(flags['dry-run']))
    : `${advice}${path === undefined ? '' : ` The rows are in ${path}.`}`;
  throw new CommandFailure(`${formatCounted(failed, 'row')} rejected. ${hint}`);
}

function explainRejected(source: string, path: string | undefined, isDryRun: boolean): string {
  if (path === undefined) {
    return 'To get them in a file that you can correct, run the command with --rejected FILE.';
  }
  return `They are in ${path}. ${isDryRun
    ? `Correct them in ${source}, or import it and correct the rejected rows.`
    : 'Correct them there and import that file.'}`;
}

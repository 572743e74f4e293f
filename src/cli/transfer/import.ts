/**
 * `import`: sends a file to a running server, and again where the connection breaks, under one
 * Idempotency-Key: so the report is of the whole file, and nothing of it is done twice.
 */
import { randomUUID } from 'node:crypto';
import { REJECTED_ROWS_SHOWN, RETRY_POLICY } from '../limits.ts';
import { type AdviceWords, RejectionCauses } from '../../transfer/import-advice.ts';
import { readServer, SERVER_FLAGS } from './api-client.ts';
import { type Command, CommandFailure, type Input } from '../command.ts';
import { RejectedRowsFile } from './import-rejections.ts';
import {
  type RejectedRow, formatCounts, type ImportRun, type ImportSummary, sendImport,
} from './import-run.ts';
import { openSource } from './import-source.ts';
import { withInterrupt } from '../progress.ts';
import { Progress } from '../progress.ts';
import { formatCount } from '../format.ts';
import { TemporaryFailure, withRetries } from './retry.ts';
import { FORMAT_FLAG, nameFile } from './text-format.ts';

/** How an import ended. */
interface Outcome {
  readonly summary: ImportSummary;
  /** The first of the rows that failed. */
  readonly shown: readonly RejectedRow[];
  readonly causes: RejectionCauses;
}

/** Advice in terms of the flags of this command. */
const WORDS: AdviceWords = {
  giveDefaults: (values) => `Run the command again with --default ${values.join(',')}.`,
  nameColumns: (members) => 'Run the command again with --map '
    + `${members.map((member) => `${member}:COLUMN`).join(',')}, naming the columns.`,
  upsert: 'To change these products, run the command again with --mode upsert.',
};

const WHAT_STAYS = 'What was imported stays: run the command again, and it goes on from there.';

export const importProducts: Command = {
  summary: 'Imports a CSV or NDJSON file into a running server; where it broke off, run it again.',
  operands: ['FILE|-'],
  flags: {
    ...SERVER_FLAGS,
    format: FORMAT_FLAG,
    mode: {
      value: 'upsert|create', help: 'whether existing products are changed (default) or fail',
    },
    'dry-run': { help: 'change nothing, and report what an import would do' },
    map: { value: 'name:Title,...', help: 'the columns of members that are not found by name' },
    default: {
      value: 'MEMBER:VALUE,...', help: 'what new products get for blank cells, such as stock:0',
    },
    failures: {
      value: 'FILE', help: 'where to write failed rows (default: NAME.failed.csv beside FILE)',
    },
  },
  isRemote: true,
  async run(input) {
    const { flags, operands: [path = ''], note } = input;
    const server = readServer(input);
    const source = openSource(path, flags['format']);
    const failures = new RejectedRowsFile(source, flags['failures']);
    const query = readQuery(flags);
    const task = { server, source, query, idempotencyKey: randomUUID() };
    // What came through a pipe cannot be sent again.
    const isRepeatable = source.sizeBytes !== undefined;
    const policy = isRepeatable ? RETRY_POLICY : { ...RETRY_POLICY, retries: 0 };
    const importing = () => withRetries(() => attempt(task, failures), policy, note);
    const interrupt = (): string => {
      failures.remove();
      return `Interrupted. ${query.has('dry_run') ? 'Nothing is changed.' : WHAT_STAYS}`;
    };
    const outcome = await withInterrupt(importing, interrupt)
      .catch(async (error: unknown) => {
        await failures.discard();
        if (!(error instanceof TemporaryFailure) || query.has('dry_run')) throw error;
        throw new CommandFailure(`${error.message} ${WHAT_STAYS}`);
      })
      .finally(() => {
        if (path === '-') process.stdin.destroy(); // or its writer would keep this process waiting
      });
    report(input, outcome, { format: source.format, failures: await failures.end() });
  },
};

function readQuery(flags: Input['flags']): URLSearchParams {
  const { mode, map, default: defaults } = flags;
  return new URLSearchParams({
    ...(mode !== undefined && { mode }),
    ...(map !== undefined && { map }),
    ...(defaults !== undefined && { default: defaults }),
    ...(flags['dry-run'] !== undefined && { dry_run: 'true' }),
  });
}

/** Sends the file once; what an attempt before has left of failed rows is thrown away. */
async function attempt(
  task: Omit<ImportRun, 'onSent' | 'onFailure'>, failures: RejectedRowsFile,
): Promise<Outcome> {
  await failures.discard();
  const progress = new Progress(process.stderr);
  const shown: RejectedRow[] = [];
  const causes = new RejectionCauses();
  let state = { rows: 0, bytes: 0, sizeBytes: task.source.sizeBytes, failures: 0 };
  try {
    const summary = await sendImport({
      ...task,
      onSent(rows, bytes) {
        state = { ...state, rows, bytes };
        progress.show(state);
      },
      async onFailure(row) {
        state = { ...state, failures: state.failures + 1 };
        if (shown.length < REJECTED_ROWS_SHOWN) shown.push(row);
        causes.add(row.faults);
        await failures.add(row);
      },
    });
    progress.end(state);
    return { summary, shown, causes };
  } finally {
    progress.close();
  }
}

/** @throws CommandFailure where rows have failed */
function report(
  input: Input, { summary, shown, causes }: Outcome,
  { format, failures: path }: {
    readonly format: 'csv' | 'ndjson'; readonly failures: string | undefined;
  },
): void {
  const { isJson, out, note, flags, operands: [source = ''] } = input;
  const { ignoredColumns, ...counts } = summary;
  const advice = causes.advise(WORDS, { format, ignoredColumns });
  const { failed } = counts;
  const what = flags['dry-run'] ? 'Dry run, nothing is changed' : nameFile(source);
  const document = {
    ...counts, ignored_columns: ignoredColumns, ...(advice !== undefined && { advice }),
  };
  if (isJson) out(JSON.stringify({ summary: document, failures_file: path ?? null }));
  else out(`${what}: ${formatCounts(counts)}. The catalogue is at position ${counts.position}.`);
  if (ignoredColumns.length > 0) note(`Columns not used: ${ignoredColumns.join(', ')}.`);
  if (failed === 0) return;
  for (const { line, sku, reason } of shown) {
    note(`  Line ${line}${sku && `, SKU ${sku}`}: ${reason}`);
  }
  const rows = failed === 1 ? '1 row' : `${formatCount(failed)} rows`;
  const hint = advice === undefined ? describeFailures(source, path, Boolean(flags['dry-run']))
    : `${advice}${path === undefined ? '' : ` The rows are in ${path}.`}`;
  throw new CommandFailure(`${rows} failed. ${hint}`);
}

function describeFailures(source: string, path: string | undefined, isDryRun: boolean): string {
  if (path === undefined) {
    return 'Run the command again with --failures FILE to get them as a file to correct.';
  }
  if (!isDryRun) return `They are in ${path}: correct them there, and import that file.`;
  const hint = `Correct them in ${source}, or import it and correct the rows that fail.`;
  return `They are in ${path}. ${hint}`;
}

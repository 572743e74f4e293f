/**
 * `import`: sends a file to a running server, and again if the connection breaks. All attempts
 * share one Idempotency-Key, so the report covers the whole file and no row is written twice.
 */
import { randomUUID } from 'node:crypto';
import type { AdviceWords } from '../../transfer/import-advice.ts';
import type { ImportOptions, ImportRow } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { type FileOutcome, readRejectedRow, reportOutcome, transferFile } from './file-run.ts';
import { formatCounted } from '../format.ts';
import { printable } from '../printable.ts';
import { REJECTED_ROWS_SHOWN } from '../remote/limits.ts';
import { asMembers } from '../remote/api-error.ts';
import { openClient, remoteCommand } from '../remote/client.ts';
import { CSV_FLAGS, FORMAT_FLAG, openSource, readCsvOptions } from './source-file.ts';
import { REJECTED_FLAG, RejectedRowsFile } from './rejected-rows-file.ts';

const COUNTS = ['created', 'updated', 'unchanged', 'skipped'];

/** Advice in terms of this command's flags. */
const WORDS: AdviceWords = {
  giveDefaults: (values) => `Run the command again with --default ${values.join(',')}.`,
  nameColumns: (members) => 'Run the command again with --map '
    + `${members.map((member) => `${member}:COLUMN`).join(',')}, naming the columns.`,
  change: 'To change these products, run the command again with --mode upsert.',
  create: 'To create these products, run the command again with --mode upsert.',
  rename: 'To change a SKU, run "products set OLD sku=NEW".',
};

const RESUME = 'Imported rows stay. Run the command again to import the rest.';

export const importProducts = remoteCommand({
  summary: 'Imports a CSV, .xlsx or NDJSON file into a running server. If it stops, run it again.',
  operands: ['FILE|-'],
  flags: {
    format: FORMAT_FLAG,
    mode: {
      choices: ['upsert', 'update', 'create'],
      help: 'create and update products (default), only update, or only create',
    },
    'dry-run': { help: 'change nothing, but report what the import would do' },
    map: { value: 'name:Title,...', help: 'columns of members that are not recognized by name' },
    default: {
      value: 'MEMBER:VALUE,...', help: 'values for blank cells of new products, such as stock:0',
    },
    duplicates: {
      choices: ['reject', 'sum', 'last'],
      help: 'rows of one product with another price or stock: reject them (default), add up the '
        + 'stock, or use the last one',
    },
    ...CSV_FLAGS,
    rejected: REJECTED_FLAG,
  },
  async run(input) {
    const { flags, operands: [path = ''], io } = input;
    const client = openClient(input, { retries: 0 }); // `withRetries` repeats the whole import
    const source = await openSource(path, flags['format'], io);
    const { rejected: rejectedPath, map, encoding, sheet, duplicates } = flags;
    const rejected = new RejectedRowsFile(source, 'products', {
      path: rejectedPath, map, encoding, sheet, duplicates,
    });
    const options = readOptions(flags);
    const outcome = await transferFile<ImportRow>({
      client, source, rejected, isOwn: ({ kind }) => kind === 'products',
      counts: COUNTS, shownLimit: REJECTED_ROWS_SHOWN, progressStream: io.stderr,
      send: (body, file) => client.products.import(body, { ...options, ...file }),
      readRejected: (row) => (row.status === 'failed' ? readRejectedRow(row) : undefined),
    }, options.dryRun ? undefined : RESUME, input);
    report(input, outcome, source.format);
  },
});

function readOptions(flags: Input['flags']): ImportOptions {
  const { mode, map, default: defaults, duplicates } = flags;
  return {
    // The casts: these are their choices.
    mode: mode as ImportOptions['mode'], duplicates: duplicates as ImportOptions['duplicates'],
    idempotencyKey: randomUUID(), map, default: defaults,
    ...(flags['dry-run'] !== undefined && { dryRun: true }),
    ...readCsvOptions(flags),
  };
}

/** @throws CommandFailure if rows were rejected, or nothing was imported */
function report(input: Input, outcome: FileOutcome, format: 'csv' | 'ndjson'): void {
  const { summary, counts: { duplicates = 0 }, ignoredColumns, causes, rejectedFile } = outcome;
  const advice = causes.advise(WORDS, { format, ignoredColumns });
  const { duplicate_rows: rows = [] } = summary;
  const document = {
    summary: { ...summary, duplicates, duplicate_rows: rows, advice },
    failures_file: rejectedFile ?? null,
  };
  const how = input.flags['duplicates'] === 'sum' ? ', and their stock is added up' : '';
  const count = formatCounted(duplicates, 'duplicate row');
  const shownRows = Array.isArray(rows) ? rows.slice(0, REJECTED_ROWS_SHOWN) : [];
  reportOutcome(input, outcome, document, [
    ...duplicates === 0 ? [] : [`${count}: the last row with a SKU wins${how}.`],
    ...shownRows.map((row) => {
      const { line, sku, overrides } = asMembers(row);
      return `  Line ${Number(line)} overrides line ${Number(overrides)}, SKU ${printable(sku)}.`;
    }),
  ], { verb: 'import', advice });
}

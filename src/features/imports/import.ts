/** Imports a file of products. The response has a line for each rejected row, or for every row. */
import type { Caller } from '../../domain/access/caller.ts';
import { formatImportId, type ImportId } from '../../domain/id.ts';
import type { Issue } from '../../domain/error.ts';
import { readIdempotencyKey } from '../../api/write.ts';
import { invalidQuery } from '../../http/request/query.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { ImportedProducts } from '../../store/catalogue-store.ts';
import { parseColumnMap, parseDefaults } from '../../transfer/columns.ts';
import { CsvRows } from '../../transfer/csv-rows.ts';
import { type AdviceWords, RejectionCauses } from '../../transfer/import-advice.ts';
import type { ImportRow, RowReader } from '../../transfer/import-row.ts';
import { NdjsonRows } from '../../transfer/ndjson.ts';
import { DuplicateRows } from './duplicate-rows.ts';
import {
  createWriteTarget, createDryRunTarget, readOutcomes, startCounts,
} from './import-target.ts';
import { CSV_TYPE } from '../../api/media-types.ts';
import { parseParameters } from '../../api/parameters.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { importParameters } from './operation.ts';
import { formatLine, ingestStream, type BatchReport } from '../../api/ingest.ts';

/** POST /api/v1/products/import: 200, 400, 415, 422 */
export async function importProducts(request: ApiRequest, services: Services): Promise<Reply> {
  const { store } = services;
  const { caller } = request;
  const options = parseParameters(importParameters, request.query, caller);
  const idempotencyKey = readIdempotencyKey(request.headers);
  const { mediaType, chunks } = request.openBody();
  const reader = openReader(mediaType, options, caller);
  return ingestStream(request.openStream, services, () => {
    const duplicates = new DuplicateRows();
    return {
      slices: duplicates.find(reader.read(chunks)),
      target: options.dry_run
        ? createDryRunTarget(store, caller, options.mode)
        : createWriteTarget(store, caller, options.mode, {
          fileName: options.file_name, key: idempotencyKey,
        }),
      batchReport: startReport(reader, duplicates, caller, options.report === 'all'),
    };
  });
}

type ImportOptions = ReturnType<typeof parseParameters<typeof importParameters>>;

/** @throws AppError `invalid_query` */
function openReader(
  mediaType: string, options: ImportOptions, { currency }: Caller,
): RowReader {
  const { map, default: defaults } = options;
  if (mediaType === CSV_TYPE) {
    if (options.mode === 'update' && defaults !== undefined) {
      const detail = 'Gives values to new products, and mode=update creates none. Omit it.';
      throw invalidQuery([{ parameter: 'default', code: 'unknown', detail }]);
    }
    return new CsvRows(currency, {
      map: map === undefined ? new Map() : parseColumnMap(map),
      defaults: defaults === undefined ? new Map() : parseDefaults(defaults),
      isPartial: options.mode !== 'create',
    });
  }
  const detail = 'Applies to CSV only, since NDJSON names its members.';
  const issues = (['map', 'default'] as const).filter((name) => options[name] !== undefined)
    .map((parameter): Issue => ({ parameter, code: 'unknown', detail }));
  if (issues.length > 0) throw invalidQuery(issues);
  return new NdjsonRows(currency);
}

/** Phrases advice in terms of query parameters. */
const WORDS: AdviceWords = {
  giveDefaults: (values) => `Send the file again with default=${values.join(',')}.`,
  nameColumns: (members) =>
    `Name their columns: map=${members.map((member) => `${member}:COLUMN`).join(',')}.`,
  change: 'To change these products, send the file again with mode=upsert.',
  create: 'To create these products, send the file again with mode=upsert.',
};

/** Counts the outcomes of rows, and formats their lines and the summary. */
function startReport(
  reader: RowReader, duplicates: DuplicateRows, { sellerId, position: startPosition }: Caller,
  reportsAll: boolean,
): BatchReport<ImportRow, ImportedProducts> {
  const counts = startCounts();
  const causes = new RejectionCauses();
  let position = startPosition;
  let importId: ImportId | undefined;
  return {
    add(batch) {
      position = batch.written?.position ?? position;
      importId ??= batch.written?.importId;
      let lines = '';
      for (const outcome of readOutcomes(batch)) {
        const { line, sku, status, errors } = outcome;
        const overrides = duplicates.add(outcome);
        counts[status] += 1;
        if (errors) causes.add(errors);
        const isReported = status === 'failed' || (reportsAll && status !== 'skipped');
        if (isReported) lines += formatLine({ line, sku, status, overrides, errors });
      }
      return lines;
    },
    summarise: () => ({
      ...counts,
      duplicates: duplicates.count > 0 ? duplicates.count : undefined,
      position,
      import: importId && formatImportId(sellerId, importId),
      duplicate_rows: duplicates.count > 0 ? duplicates.first : undefined,
      ignored_columns: reader.ignoredColumns.length > 0 ? reader.ignoredColumns : undefined,
      advice: causes.advise(WORDS, reader),
    }),
  };
}

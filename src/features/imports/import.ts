/**
 * Imports a file of products. The response has a line for each rejected row, or for every row. Also
 * the OpenAPI operation of the import, and its schemas.
 */
import type { Caller } from '../../domain/access/caller.ts';
import { findOtherMember } from '../../domain/catalogue/product.ts';
import { AppError } from '../../domain/error.ts';
import { formatImportId, type ImportId } from '../../domain/id.ts';
import { readIdempotencyKey } from '../../api/write.ts';
import { invalidQuery } from '../../http/request/query.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { ImportedProducts, ImportEffect } from '../../store/catalogue-store.ts';
import { MEMBERS, parseColumnMap, parseDefaults } from '../../transfer/columns.ts';
import { CsvRows } from '../../transfer/csv-rows.ts';
import { type AdviceWords, RejectionCauses } from '../../transfer/import-advice.ts';
import { listNotes, RowNotes, SKIP_REASONS } from '../../transfer/import-notes.ts';
import {
  DEFAULTABLE, type ImportRow, missingMember, type RowReader,
} from '../../transfer/import-row.ts';
import { makeNdjsonReader } from '../../transfer/ndjson.ts';
import { DUPLICATE_ROWS, DuplicateRows } from './duplicate-rows.ts';
import {
  createDryRunTarget, createWriteTarget, readOutcomes, startCounts,
} from './import-target.ts';
import {
  assertNoCsvParameters, csvParameters, isTable, toFileOptions, workbookContent,
} from '../../api/csv-parameters.ts';
import { CSV_TYPE, NDJSON_TYPE } from '../../api/media-types.ts';
import {
  choice, dryRun, fileNameParameter, parseParameters, text, withDefault,
} from '../../api/parameters.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { type BatchReport, formatLine, ingestStream, nonEmpty } from '../../api/ingest.ts';
import { IMPORT_BATCH_ROWS, IMPORT_DUPLICATES_LISTED_LIMIT } from '../../transfer/limits.ts';
import type { Operation, Tag } from '../../api/description/operation.ts';
import {
  closedObjectOf, count, describeStreamProblem, enumOf, linesOf, listNames, objectOf, problem,
  refer, tableOf,
} from '../../api/description/schema.ts';
import { importId, newProduct } from '../../api/description/examples.ts';
import type { Schema } from '../../domain/validation.ts';
import { inputMembers, product } from '../../api/description/schemas.ts';
import { importIdSchema } from '../../api/stock/stock-operations.ts';

/** POST /api/v1/products/import: 200, 400, 415, 422 */
export async function importProducts(request: ApiRequest, services: Services): Promise<Reply> {
  const { store } = services;
  const { caller } = request;
  const options = parseParameters(importParameters, request.query, caller);
  const idempotencyKey = readIdempotencyKey(request.headers);
  if (options.mode === 'create' && options.duplicates === 'sum') {
    const detail = 'Adds later rows of a product to the first one, and mode=create rejects them.';
    throw invalidQuery([{ parameter: 'duplicates', code: 'mismatch', detail }]);
  }
  const isPricesOnly = !caller.scopes.includes('products:write');
  if (isPricesOnly && options.mode !== 'update') {
    throw new AppError('scope_missing', 'The scope prices:write permits imports with mode=update '
      + 'only. Add mode=update, or use a key with the scope products:write.');
  }
  const { mediaType, chunks } = request.openBody();
  const reader = openReader(mediaType, options, caller);
  return ingestStream(request.openStream, services, () => {
    const duplicates = new DuplicateRows(
      store, caller.sellerId, options.duplicates, options.mode,
    );
    return {
      slices: duplicates.find(isPricesOnly ? pricesOnly(reader) : reader, chunks),
      target: options.dry_run
        ? createDryRunTarget(store, caller, options.mode)
        : createWriteTarget(store, caller, options.mode, {
          fileName: options.file_name, key: idempotencyKey,
        }),
      batchReport: startReport(reader, duplicates, caller, options),
    };
  });
}

/** Rejects rows that have more than the price of a product, for a key that may change no more. */
function pricesOnly(reader: RowReader): Pick<RowReader, 'read' | 'ignoredColumns'> {
  return {
    async* read(chunks) {
      for await (const rows of reader.read(chunks)) yield rows.map(checkPriceOnly);
    },
    get ignoredColumns() { return reader.ignoredColumns; },
  };
}

function checkPriceOnly(row: ImportRow): ImportRow {
  const { product } = row.content ?? {};
  const name = product?.sku === undefined ? 'barcode' : 'sku';
  const other = product && findOtherMember(product, [name, 'price']);
  if (other === undefined) return row;
  const detail = 'This key may change only prices. Omit this member, or use a key with the scope '
    + 'products:write.';
  return { ...row, content: { issues: [{ pointer: `/${other}`, code: 'unknown', detail }] } };
}

type ImportOptions = ReturnType<typeof parseParameters<typeof importParameters>>;

/** @throws AppError `invalid_query` */
function openReader(
  mediaType: string, options: ImportOptions, { currency }: Caller,
): RowReader {
  const { map, default: defaults } = options;
  if (isTable(mediaType)) {
    if (options.mode === 'update' && defaults !== undefined) {
      const detail = 'Gives values to new products, and mode=update creates none. Omit it.';
      throw invalidQuery([{ parameter: 'default', code: 'unknown', detail }]);
    }
    return new CsvRows(currency, {
      map: map === undefined ? new Map() : parseColumnMap(map),
      defaults: defaults === undefined ? new Map() : parseDefaults(defaults),
      isPartial: options.mode !== 'create', ...toFileOptions(options),
    });
  }
  assertNoCsvParameters(options, ['map', 'default']);
  return makeNdjsonReader(currency);
}

/** Phrases advice in terms of query parameters. */
const WORDS: AdviceWords = {
  giveDefaults: (values) => `Send the file again with default=${values.join(',')}.`,
  nameColumns: (members) =>
    `Name their columns: map=${members.map((member) => `${member}:COLUMN`).join(',')}.`,
  change: 'To change these products, send the file again with mode=upsert.',
  create: 'To create these products, send the file again with mode=upsert.',
  rename: 'To change a SKU, send it to PATCH /api/v1/products/{id}.',
};

/** Counts the outcomes of rows, and formats their lines and the summary. */
function startReport(
  reader: RowReader, duplicates: DuplicateRows, { sellerId, position: startPosition }: Caller,
  { report, dry_run: isDryRun }: Pick<ImportOptions, 'report' | 'dry_run'>,
): BatchReport<ImportRow, ImportedProducts> {
  const reportsAll = report === 'all';
  const counts = startCounts();
  const causes = new RejectionCauses();
  const notes = new RowNotes(reader);
  let position = startPosition;
  let importId: ImportId | undefined;
  return {
    isDryRun,
    add(batch) {
      position = batch.written?.position ?? position;
      importId ??= batch.written?.importId;
      notes.addUnknownIds(batch.written?.unknownIds);
      let lines = '';
      for (const outcome of readOutcomes(batch)) {
        notes.add(outcome);
        const { line, sku, status, errors } = outcome;
        const overrides = duplicates.add(outcome);
        counts[status] += 1;
        if (errors) causes.add(errors);
        const isReported = status === 'failed' || (reportsAll && status !== 'skipped');
        if (isReported) lines += formatLine({ line, sku, status, overrides, errors });
      }
      return lines;
    },
    summarise: (isComplete) => ({
      ...counts,
      ...notes.members,
      duplicates: duplicates.count > 0 ? duplicates.count : undefined,
      position,
      import: importId && formatImportId(sellerId, importId),
      duplicate_rows: duplicates.count > 0 ? duplicates.first : undefined,
      ignored_columns: nonEmpty(reader.ignoredColumns),
      advice: causes.advise(WORDS, reader),
      notes: isComplete ? listNotes(counts, notes.members, reader.notes) : undefined,
    }),
  };
}

const failedRow = {
  line: 4, sku: 'T-3', status: 'failed',
  errors: [missingMember('stock', 'blank')],
};
const summary = {
  created: 2, updated: 1, unchanged: 0, failed: 1, skipped: 0, position: 12, import: importId,
  advice: '1 rejected row is a new product without a value for stock. Send the file again with '
    + 'default=stock:0.',
};

const importParameters = {
  mode: {
    ...withDefault(choice(['upsert', 'update', 'create']), 'upsert'), example: 'create',
    description: '`upsert` creates products and updates those whose SKU exists; members that are '
      + 'missing or blank keep their value. `update` does the same to existing products, creates '
      + 'none, and rejects rows whose SKU is new. `create` rejects rows whose SKU exists. Rows '
      + 'without a SKU name an existing product by its barcode; if several have it, they are '
      + 'rejected.',
  },
  dry_run: dryRun,
  report: {
    ...withDefault(choice(['failed', 'all']), 'failed'),
    description: 'Rows that get a line in the response.', example: 'all',
  },
  map: {
    ...text, example: 'name:Title,stock:On hand',
    description: 'Columns of a CSV file to read members from, instead of the recognised ones: '
      + `comma-separated \`member:column\`. Members are ${listNames(MEMBERS)}. A `
      + 'column name may contain commas.',
  },
  duplicates: {
    ...withDefault(choice(DUPLICATE_ROWS), 'reject'), example: 'sum',
    description: 'What a row does if an earlier one has its SKU, and another price or stock, as in '
      + 'exports with a row for each warehouse. `reject` rejects it, and so any stock of a file '
      + 'with a column of locations; `sum` adds up the stock, and rejects other prices; `last` '
      + 'lets it replace the earlier one, as rows do whose price and stock agree.',
  },
  ...csvParameters,
  file_name: fileNameParameter,
  default: {
    ...text, example: 'stock:0,category:Misc',
    description: 'Values of new products for blank cells and missing columns of a CSV file: '
      + 'comma-separated `member:text`. A default never changes an existing product, so '
      + '`mode=update` rejects this parameter. Members are '
      + `${listNames(DEFAULTABLE)}; numbers are written as in the file.`,
  },
} as const;

export const importTag: Tag = {
  name: 'Imports',
  description: 'Create and update products from CSV and NDJSON files; see what each import did, '
    + 'and revert it.',
};

export const importProductsOperation: Operation = {
  id: 'importProducts',
  tag: importTag,
  summary: 'Import a file of products',
  description: 'Accepts a file of any length and responds while reading it. Rows are written in '
    + `batches of up to ${IMPORT_BATCH_ROWS}; a rejected row does not affect the others. If the `
    + 'import stops early, rows already written stay, and the same file can be sent again. In an '
    + 'existing product, members that a row omits or leaves blank keep their values, and pairs of '
    + '`metadata` are merged; in CSV they are columns such as `metadata.erp_id`, or a JSON object '
    + 'in a column `metadata`. Columns of Shopify, WooCommerce and Magento exports are recognised. '
    + 'With the scope `prices:write`, `mode` must be `update`, and a row that has more than the '
    + 'price and what names its product is rejected. An error in the file as a whole is a problem '
    + 'response if it is found immediately, and otherwise the last line of the response.',
  query: importParameters,
  requestHeaders: ['IdempotencyKey', 'ContentEncoding'],
  request: {
    [NDJSON_TYPE]: linesOf('ImportProduct', newProduct),
    [CSV_TYPE]: tableOf(newProduct, 'Separated by comma, semicolon, tab or |.'),
    ...workbookContent,
  },
  responses: {
    200: {
      description: 'The results of the rows.',
      content: { [NDJSON_TYPE]: linesOf('ImportLine', failedRow, { summary }) },
    },
  },
};

type RowStatus = Extract<ImportEffect, 'created' | 'updated' | 'unchanged'> | 'failed';

const rowStatuses: Readonly<Record<RowStatus, string>> = {
  created: 'the SKU was new',
  updated: 'the product was changed',
  unchanged: 'the product already had these values',
  failed: 'the row was rejected for the reasons in `errors`',
};

const lineSchema = { type: 'integer', minimum: 1 } as const;

const duplicateRow = {
  line: lineSchema, sku: { type: 'string' },
  overrides: {
    ...lineSchema,
    description: 'Line of the file\'s previous row with the same SKU. The values of this row win; '
      + 'with `duplicates=sum`, its stock is the sum.',
  },
};

export const importSchemas: Readonly<Record<string, Schema>> = {
  ImportProduct: {
    ...closedObjectOf({ ...product, ...inputMembers }, []),
    anyOf: [{ required: ['sku'] }, { required: ['barcode'] }],
    description: 'A product as sent or exported. `position` and the times are ignored. A row '
      + 'whose `id` is that of another product than its `sku` is rejected; other ids are ignored. '
      + 'A `currency` must be yours. An existing product keeps the values of omitted members; '
      + 'a row without a `sku` changes the one product with its `barcode`, which stays as it is.',
  },
  ImportLine: {
    oneOf: [
      refer('ImportRow'),
      objectOf({ summary: refer('ImportSummary') }),
      objectOf({ problem: refer('ImportProblem') }),
    ],
    description: 'Lines for rows in the order of the file, then a summary, or a problem if the '
      + 'import stopped early.',
  },
  ImportRow: objectOf({
    line: { ...lineSchema, description: 'Line of the file where the row begins.' },
    sku: {
      type: ['string', 'null'],
      description: 'As sent, or that of the product with the barcode; null if there is none.',
    },
    status: { type: 'string', ...enumOf(rowStatuses) },
    overrides: duplicateRow.overrides,
    errors: problem.errors,
  }, ['line', 'sku', 'status']),
  ImportSummary: objectOf({
    created: count, updated: count, unchanged: count, failed: count,
    skipped: { ...count, description: 'Rows without a product, such as image rows.' },
    skip_reasons: {
      ...objectOf(Object.fromEntries(SKIP_REASONS.map(([reason, words]) =>
        [reason, { ...count, description: `Rows ${words}.` }])), []),
      description: 'How many rows were skipped for which reason. Absent if none was.',
    },
    unknown_ids: {
      ...count, description: 'Rows whose `id` none of your products has: it is ignored. Absent if '
        + 'there are none.',
    },
    date_skus: {
      ...count, description: 'New products of a CSV file whose SKU looks like a date, as after a '
        + 'spreadsheet has changed it. Absent if there are none.',
    },
    first_date_sku: { type: 'string', description: 'The first of these SKUs.' },
    duplicates: {
      ...count, description: 'Rows that override an earlier row with the same SKU. Absent if none.',
    },
    position: { ...count, description: 'Position of the catalogue after the import.' },
    import: importIdSchema,
    duplicate_rows: {
      type: 'array', maxItems: IMPORT_DUPLICATES_LISTED_LIMIT,
      items: objectOf(duplicateRow, ['line', 'sku', 'overrides']),
      description: `The first ${IMPORT_DUPLICATES_LISTED_LIMIT} of them.`,
    },
    ignored_columns: { type: 'array', items: { type: 'string' } },
    advice: {
      type: 'string',
      description: 'For a person: the cause of most rejected rows, and what to do about it. Absent '
        + 'if they have no common cause.',
    },
    notes: {
      type: 'array', items: { type: 'string' },
      description: 'For a person: why nothing was imported, and what else the counts do not say. '
        + 'Absent if there is nothing to say.',
    },
  }, ['created', 'updated', 'unchanged', 'failed', 'skipped', 'position']),
  ImportProblem: describeStreamProblem('ImportSummary'),
};

/** Imports a file of products: a line in the answer for each row that failed, or for each row. */
import type { Caller } from '../domain/caller.ts';
import type { Issue } from '../domain/error.ts';
import type { NewProduct } from '../domain/product.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { invalidQuery, type Query } from '../http/query.ts';
import type { Reply } from '../http/reply.ts';
import type { ImportedProducts, ImportEffect, ImportMode, Store } from '../store/store.ts';
import { parseColumnMap, parseDefaults } from '../transfer/columns.ts';
import { CsvRows } from '../transfer/csv-rows.ts';
import type { ImportRow, RowReader } from '../transfer/import-row.ts';
import { NdjsonRows } from '../transfer/ndjson-rows.ts';
import { CSV_TYPE } from './media-types.ts';
import { QueryReader } from './query-reader.ts';
import type { Call, Services } from './route.ts';
import {
  formatLine, takeFile, type UnitTally, type UnitTarget, type WrittenUnit,
} from './units.ts';

/** POST /api/v1/products/import: 200, 400, 415, 422 */
export async function importProducts(call: Call, services: Services): Promise<Reply> {
  const { store } = services;
  const { caller } = call;
  const options = parseOptions(call.query);
  const idempotencyKey = readIdempotencyKey(call.headers);
  const { mediaType, chunks } = call.openBody();
  const reader = openReader(mediaType, options, caller);
  const end = services.imports.begin(caller.sellerId);
  const target = options.isDryRun
    ? openTrial(store, caller, options.mode)
    : openCatalogue(store, caller, options.mode, idempotencyKey);
  const tally = new Tally(reader, caller.position, options.reportsAll);
  const batches = reader.read(chunks);
  return takeFile({ batches, target, tally, assertAllowed: call.assertAllowed, end }, services);
}

interface Options {
  readonly mode: ImportMode;
  readonly isDryRun: boolean;
  /** Whether rows that did not fail have lines in the answer too. */
  readonly reportsAll: boolean;
  readonly map: string | undefined;
  readonly default: string | undefined;
}

/** @throws AppError `invalid_query` naming every faulty parameter */
function parseOptions(query: Query): Options {
  const reader = new QueryReader(query);
  const options = {
    mode: reader.readChoice('mode', ['upsert', 'create']),
    isDryRun: reader.readChoice('dry_run', ['false', 'true']) === 'true',
    reportsAll: reader.readChoice('report', ['failed', 'all']) === 'all',
    map: query.get('map'),
    default: query.get('default'),
  };
  reader.assertSound();
  return options;
}

/** @throws AppError `invalid_query` */
function openReader(mediaType: string, options: Options, { currency }: Caller): RowReader {
  const { map, default: defaults } = options;
  if (mediaType === CSV_TYPE) {
    return new CsvRows(
      currency, map === undefined ? new Map() : parseColumnMap(map),
      defaults === undefined ? new Map() : parseDefaults(defaults),
    );
  }
  const detail = 'Is for CSV: members of NDJSON have their own names and values.';
  const issues = (['map', 'default'] as const).filter((name) => options[name] !== undefined)
    .map((parameter): Issue => ({ parameter, code: 'unknown', detail }));
  if (issues.length > 0) throw invalidQuery(issues);
  return new NdjsonRows(currency);
}

type ImportTarget = UnitTarget<ImportRow, ImportedProducts>;

function openCatalogue(
  store: Store, { sellerId, keyId }: Caller, mode: ImportMode, key: string | undefined,
): ImportTarget {
  return {
    write(rows, part) {
      const products = readProducts(rows);
      // With a key, units without a product and the end of the file leave records too: so that
      // another file under the same key is told from the first one.
      if (products.length === 0 && key === undefined) return undefined;
      const idempotency = key === undefined ? undefined : { key, part };
      return store.importProducts({ sellerId, keyId, idempotency }, products, mode);
    },
    close: async () => {},
  };
}

function openTrial(
  store: Store, { sellerId, position }: Caller, mode: ImportMode,
): ImportTarget {
  const preview = store.previewImport(sellerId, mode);
  return {
    async write(rows) {
      return { effects: await preview.try(readProducts(rows)), position, isReplay: false };
    },
    close: () => preview.close(),
  };
}

function readProducts(rows: readonly ImportRow[]): NewProduct[] {
  return rows.flatMap(({ content }) => content?.product ?? []);
}

/** What became of the rows so far. */
class Tally implements UnitTally<ImportRow, ImportedProducts> {
  readonly #reader: RowReader;
  readonly #reportsAll: boolean;
  readonly #counts = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };
  #position: number;

  constructor(reader: RowReader, position: number, reportsAll: boolean) {
    this.#reader = reader;
    this.#position = position;
    this.#reportsAll = reportsAll;
  }

  add({ rows, written }: WrittenUnit<ImportRow, ImportedProducts>): string {
    this.#position = written?.position ?? this.#position;
    let lines = '';
    let products = 0;
    for (const row of rows) {
      const effect = row.content?.product && written?.effects[products];
      if (row.content?.product) products += 1;
      lines += this.#addRow(row, effect);
    }
    return lines;
  }

  #addRow({ line, sku, content }: ImportRow, effect: ImportEffect | undefined): string {
    if (!content) {
      this.#counts.skipped += 1;
      return '';
    }
    const errors = content.issues ?? (effect === 'taken' ? [TAKEN] : undefined);
    const status = errors || effect === undefined || effect === 'taken' ? 'failed' : effect;
    this.#counts[status] += 1;
    return errors || this.#reportsAll ? formatLine({ line, sku, status, errors }) : '';
  }

  summarise() {
    const { ignoredColumns } = this.#reader;
    const ignored = ignoredColumns.length > 0 && { ignored_columns: ignoredColumns };
    return { ...this.#counts, position: this.#position, ...ignored };
  }
}

const TAKEN: Issue = {
  pointer: '/sku', code: 'taken',
  detail: 'You already have a product with this SKU. Import with mode=upsert to change it.',
};

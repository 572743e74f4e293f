/**
 * Imports a file of products of any length, in units that are written one after the other while the
 * file is read, and answers while it does so: a line for each row that failed, or for each row, and
 * a summary. What a unit holds depends on the file alone, so the repetition of an import under its
 * Idempotency-Key has the same units, and those that were written are not written again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { IMPORT_UNIT_LIMIT_CHARACTERS, IMPORT_UNIT_ROWS } from '../config.ts';
import type { Caller } from '../domain/caller.ts';
import type { Issue } from '../domain/error.ts';
import type { NewProduct } from '../domain/product.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { describeProblem } from '../http/problem.ts';
import { invalidQuery, type Query } from '../http/query.ts';
import type { Reply } from '../http/reply.ts';
import type { ImportedProducts, ImportEffect, ImportMode, Store } from '../store/store.ts';
import { parseColumnMap, parseDefaults } from '../transfer/columns.ts';
import { CsvRows } from '../transfer/csv-rows.ts';
import type { ImportRow, RowReader } from '../transfer/import-row.ts';
import { NdjsonRows } from '../transfer/ndjson-rows.ts';
import { CSV_TYPE, NDJSON_TYPE } from './media-types.ts';
import type { Call, Services } from './route.ts';

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
  const units = writeUnits(gatherUnits(reader.read(chunks)), target, end);
  // What is wrong with the whole file shows here, while the answer can still be a problem.
  const first = await units.next();
  const isReplay = !first.done && first.value.written?.isReplay === true;
  return {
    status: 200,
    headers: {
      'content-type': NDJSON_TYPE,
      'cache-control': 'no-store',
      ...(isReplay && { 'idempotent-replay': 'true' }),
    },
    body: tell(first, units, new Tally(reader, caller.position, options.reportsAll), services),
  };
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
  const issues: Issue[] = [];
  const options = {
    mode: choose(query, 'mode', ['upsert', 'create'], issues),
    isDryRun: choose(query, 'dry_run', ['false', 'true'], issues) === 'true',
    reportsAll: choose(query, 'report', ['failed', 'all'], issues) === 'all',
    map: query.get('map'),
    default: query.get('default'),
  };
  if (issues.length > 0) throw invalidQuery(issues);
  return options;
}

/** What the parameter says; the first of the choices where it is not sent. */
function choose<Choice extends string>(
  query: Query, parameter: string, choices: readonly [Choice, ...Choice[]], issues: Issue[],
): Choice {
  const sent = query.get(parameter) ?? choices[0];
  const choice = choices.find((one) => one === sent);
  if (choice !== undefined) return choice;
  issues.push({ parameter, code: 'format', detail: `Must be one of: ${choices.join(', ')}.` });
  return choices[0];
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

/** Where the units of an import go, one after the other. */
interface Target {
  /**
   * Whether each unit leaves a record, those without a product too, and the end of the file one of
   * its own: so that another file under the same Idempotency-Key is told from the first one.
   */
  readonly isRecorded: boolean;
  write(products: readonly NewProduct[], part: number): Promise<ImportedProducts>;
  close(): Promise<void>;
}

function openCatalogue(
  store: Store, { sellerId, keyId }: Caller, mode: ImportMode, key: string | undefined,
): Target {
  return {
    isRecorded: key !== undefined,
    write(products, part) {
      const idempotency = key === undefined ? undefined : { key, part };
      return store.importProducts({ sellerId, keyId, idempotency }, products, mode);
    },
    close: async () => {},
  };
}

function openTrial(store: Store, { sellerId, position }: Caller, mode: ImportMode): Target {
  const preview = store.previewImport(sellerId, mode);
  return {
    isRecorded: false,
    async write(products) {
      return { effects: await preview.try(products), position, isReplay: false };
    },
    close: () => preview.close(),
  };
}

/** The rows of a file in groups, each of which is written as one unit. */
async function* gatherUnits(
  batches: AsyncIterable<readonly ImportRow[]>,
): AsyncGenerator<readonly ImportRow[], void, void> {
  let unit: ImportRow[] = [];
  let characters = 0;
  for await (const rows of batches) {
    await nextTurn(); // or a body that came at once would be handled at once
    for (const row of rows) {
      unit.push(row);
      characters += row.characters;
      if (unit.length < IMPORT_UNIT_ROWS && characters < IMPORT_UNIT_LIMIT_CHARACTERS) continue;
      yield unit;
      unit = [];
      characters = 0;
    }
  }
  if (unit.length > 0) yield unit;
}

/** The rows of a unit, and what became of those that hold a product; undefined where none does. */
interface WrittenUnit {
  readonly rows: readonly ImportRow[];
  readonly written: ImportedProducts | undefined;
}

/** Writes the units; while one is written, the next one is read, and no more than that. */
async function* writeUnits(
  units: AsyncGenerator<readonly ImportRow[], void, void>, target: Target, end: () => void,
): AsyncGenerator<WrittenUnit, void, void> {
  try {
    let reading = units.next();
    for (let part = 0; ; part += 1) {
      const step = await reading;
      const rows = step.value ?? [];
      const products = rows.flatMap(({ content }) => content?.product ?? []);
      const isWritten = products.length > 0 || target.isRecorded;
      const writing = isWritten ? target.write(products, part) : undefined;
      if (step.done) {
        await writing;
        return;
      }
      reading = units.next();
      reading.catch(() => {}); // it is heard above, or nobody reads on
      yield { rows, written: await writing };
    }
  } finally {
    // Not awaited: a file that is still coming would hold up the answer that ends the import.
    units.return().catch(() => {});
    end();
    await target.close();
  }
}

/** The body of the answer. */
async function* tell(
  first: IteratorResult<WrittenUnit, void>, units: AsyncGenerator<WrittenUnit, void, void>,
  tally: Tally, { report }: Services,
): AsyncGenerator<string, void, void> {
  try {
    for (let step = first; !step.done; step = await units.next()) {
      const lines = tally.add(step.value);
      if (lines !== '') yield lines;
    }
    yield formatLine({ summary: tally.summarise() });
  } catch (error) {
    const { detail, ...problem } = describeProblem(error, report);
    const hint = 'What the summary counts was done before, and stays.';
    const summary = tally.summarise();
    yield formatLine({ problem: { ...problem, detail: `${detail} ${hint}`, summary } });
  } finally {
    await units.return();
  }
}

/** What became of the rows so far. */
class Tally {
  readonly #reader: RowReader;
  readonly #reportsAll: boolean;
  readonly #counts = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };
  #position: number;

  constructor(reader: RowReader, position: number, reportsAll: boolean) {
    this.#reader = reader;
    this.#position = position;
    this.#reportsAll = reportsAll;
  }

  /** Counts a unit, and returns the lines that tell of its rows. */
  add({ rows, written }: WrittenUnit): string {
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

function formatLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

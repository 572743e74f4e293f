/**
 * The rows of a stock file in CSV. A leading apostrophe that escapes a formula is removed. A row
 * without any text is ignored. A row with more or fewer cells than the header is rejected, and
 * identifies no product: an unquoted delimiter may have moved its cells.
 */
import { AppError, type Issue } from '../domain/error.ts';
import { parseStockChange, type SentChange } from '../domain/catalogue/stock-change.ts';
import {
  isBlank, parseTextMark, unescapeFormula, validateCellCount, validateTextCell,
} from './csv-cells.ts';
import { createUnitCheck, findSkuListIssue } from './column-names.ts';
import { type CellUse, countCharacters, type CsvRecord } from './csv-reader.ts';
import type { FileOptions } from './file-options.ts';
import { isErrorColumn, isRejectedRowsFile, normalizeName } from './header.ts';
import type { ImportRow, RowReader } from './import-row.ts';
import { readJsonLines } from './ndjson.ts';
import { parseLevel, parseNumber } from './numbers.ts';
import {
  countStockMembers, findStockColumns, STOCK_MEMBERS, type StockColumnMap, type StockColumns,
  type StockMember,
} from './stock-columns.ts';
import { createSkuSource, hasHandles, NO_SKU } from './sku-source.ts';
import { addMarks, checkTypes, readTable, TableReader, type UsedColumns } from './table-reader.ts';

/** A row of a stock file of any format. */
export interface StockRow extends Pick<ImportRow, 'line' | 'characters' | 'markedSku'> {
  readonly entry: SentChange;
}

interface StockSettings {
  /** Whether `sequence` is allowed: it numbers the updates of a source. */
  readonly hasSource: boolean;
  /** Whether the rows of a product are added up, for which all of them are needed. */
  readonly isSum?: boolean;
  /** Whether products that the file does not name are set to 0. */
  readonly isStocktake?: boolean | undefined;
  readonly fileName?: string | undefined;
}

interface StockCsvSettings extends FileOptions, StockSettings {
  readonly map: StockColumnMap;
}

export const NO_SUM = 'A file of rejected rows has only some rows of a product, so they cannot be '
  + 'added up. Correct the original file and send all of it.';
const NO_STOCKTAKE = 'A file of rejected rows has only some of the products, so it cannot be a '
  + 'stocktake. Send it as changes of stock instead, or correct the original file and send all of '
  + 'it.';
const DIFFERENCES = 'Write 0 for a product that is oversold. If the column has differences, read '
  + 'it as changes of stock, with map=adjust:COLUMN.';
/** Of cells that have no number. */
const USES: Readonly<Partial<Record<StockMember, CellUse>>> =
  { sku: 'identifier', id: 'identifier', barcode: 'identifier', reason: 'text' };

/** Reads the stock changes of one file. */
export type StockReader = Omit<RowReader<StockRow>, 'format'>;

export function makeStockCsvReader(settings: StockCsvSettings): StockReader {
  const reader = new TableReader({
    ...settings, countMembers: (names) => countStockMembers(names, settings.map),
  });
  let ignored: readonly string[] = [];
  return {
    get ignoredColumns() { return ignored; },
    get notes() { return reader.notes; },
    read: (chunks) => readTable(reader, chunks, ({ cells: header }, sample) => {
      const fault = settings.isStocktake ? NO_STOCKTAKE : settings.isSum ? NO_SUM : undefined;
      const isPart = isErrorColumn(normalizeName(header[0] ?? '')) || isPartByName(settings);
      if (fault && isPart) throw new AppError('invalid_data', fault);
      const columns = findStockColumns(header, settings.map, sample.map(({ cells }) => cells));
      const { indexes } = columns;
      ignored = columns.ignored;
      const members = STOCK_MEMBERS.filter((member) => indexes[member].length > 0);
      const used = addMarks(members.map((member) => ({
        member, indexes: indexes[member], use: USES[member] ?? 'number', mark: settings.decimal,
      })), header, sample);
      const checkUnits = createUnitCheck(header, {
        amount: settings.map.has('set') ? undefined : indexes.set[0],
      });
      const makeSku = createSkuSource(header, settings.skuFrom);
      const blankSku = hasHandles(header) ? NO_SKU : blank('/sku');
      const rowSettings = { ...settings, checkUnits, makeSku, blankSku };
      // A barcode beside a SKU or an id is ignored: most catalogues have few barcodes.
      const withoutBarcode = used.filter(({ member }) => member !== 'barcode');
      const isNamed = (cells: readonly string[]): boolean => makeSku(cells) !== ''
        || [...indexes.sku, ...indexes.id].some((index) => !isBlank(cells[index] ?? ''));
      return (record) => {
        const own = indexes.barcode.length > 0 && isNamed(record.cells) ? withoutBarcode : used;
        return parseRow(checkTypes(record, own), columns, own, rowSettings);
      };
    }),
  };
}

/** Why a row must be rejected, and identifies no product. A cell of another member is no reason. */
function findFault(
  { cells, issue }: CsvRecord, { count, indexes, hasSkuLists }: StockColumns,
  shortRows: StockCsvSettings['shortRows'],
): Issue | undefined {
  const isUnidentified = issue && (issue.pointer === '' || isReferenceIssue(issue));
  if (isUnidentified) return issue;
  return validateCellCount(cells, count, shortRows)
    ?? findSkuListIssue(hasSkuLists, cells[indexes.sku[0] ?? -1] ?? '');
}

interface RowSettings extends StockCsvSettings {
  readonly checkUnits: ReturnType<typeof createUnitCheck>;
  readonly makeSku: ReturnType<typeof createSkuSource>;
  readonly blankSku: Issue;
}

function parseRow(
  record: CsvRecord, columns: StockColumns, used: readonly UsedColumns<StockMember>[],
  { hasSource, shortRows, checkUnits, makeSku, blankSku }: RowSettings,
): StockRow | undefined {
  const { line, cells, issue } = record;
  const { indexes } = columns;
  const characters = countCharacters(record);
  const fault = findFault(record, columns, shortRows);
  if (fault && !cells.every(isBlank)) return { line, characters, entry: { issues: [fault] } };
  const { members, issues } = readMembers(cells, used);
  if (issue) issues.push(issue);
  const madeSku = 'sku' in members ? '' : makeSku(cells);
  if (madeSku !== '') members.sku = madeSku;
  const unitIssue = checkUnits(cells);
  if (unitIssue) issues.push(unitIssue);
  const isComplete = 'sku' in members && 'set' in members;
  const isEmpty = !isComplete && addMissing(issues, members, indexes, blankSku)
    && cells.every(isBlank);
  if (isEmpty) return undefined;
  const entry = parseChange(members, hasSource);
  const row = { line, characters, entry: issues.length > 0 ? addIssues(entry, issues) : entry };
  const sku = cells[indexes.sku[0] ?? -1] ?? '';
  return parseTextMark(sku) === undefined ? row : { ...row, markedSku: sku };
}

/** Adds the errors of a row without a product or a quantity; returns whether it lacks both. */
function addMissing(
  issues: Issue[], members: Members, { sku, id, set }: StockColumns['indexes'], blankSku: Issue,
): boolean {
  const hasProduct = 'sku' in members || 'id' in members || 'barcode' in members
    || issues.some(isReferenceIssue);
  const hasQuantity = 'set' in members || 'adjust' in members || issues.some(isQuantityIssue);
  const blankId = blank(id.length === 0 ? '/barcode' : '/id');
  if (!hasProduct) issues.push(sku.length === 0 ? blankId : blankSku);
  if (!hasQuantity) issues.push(blank(set.length === 0 ? '/adjust' : '/set'));
  return !hasProduct && !hasQuantity;
}

/** Only a row of a file may have both a SKU and an id. */
function parseChange(members: Members, hasSource: boolean): SentChange {
  if (typeof members.id !== 'string' || members.sku === undefined) {
    return parseStockChange(members, hasSource);
  }
  const { id, ...others } = members;
  const entry = parseStockChange(others, hasSource);
  return 'change' in entry ? { change: { ...entry.change, id } }
    : { ...entry, reference: { ...entry.reference, id } };
}

/** Adds the errors of cells. Leaves out errors that follow from a missing member. */
function addIssues(entry: SentChange, issues: readonly Issue[]): SentChange {
  const otherIssues = 'issues' in entry ? entry.issues.filter(({ pointer }) => pointer !== '') : [];
  const reference = 'change' in entry ? entry.change : entry.reference ?? {};
  return { issues: [...issues, ...otherIssues], reference };
}

type Members = Partial<Record<StockMember, string | number>>;

/** The values of a row, and the errors of its numbers. */
function readMembers(cells: readonly string[], used: readonly UsedColumns<StockMember>[]) {
  const members: Members = {};
  const issues: Issue[] = [];
  for (const { member, indexes, use, mark } of used) {
    const cell = cells[indexes[0] ?? -1];
    if (cell === undefined || isBlank(cell)) continue;
    if (use !== 'number') {
      const fault = validateTextCell(cell);
      const digits = member === 'sku' || member === 'barcode' ? parseTextMark(cell) : undefined;
      if (fault) issues.push({ pointer: `/${member}`, ...fault });
      else members[member] = digits ?? unescapeFormula(cell);
      continue;
    }
    const parsed = member === 'set' ? parseLevel(cell, mark, DIFFERENCES)
      : parseNumber(cell, { mark, isWhole: true, isDifference: true });
    if ('value' in parsed) members[member] = parsed.value;
    else issues.push({ pointer: `/${member}`, ...parsed.error });
  }
  return { members, issues };
}

function isQuantityIssue({ pointer }: Issue): boolean {
  return pointer === '/set' || pointer === '/adjust';
}

function isReferenceIssue({ pointer }: Issue): boolean {
  return pointer === '/sku' || pointer === '/id' || pointer === '/barcode';
}

function blank(pointer: string): Issue {
  return { pointer, code: 'blank', detail: 'Must not be blank.' };
}

/** Whether a stocktake has the name of a file of rejected rows. */
function isPartByName({ isStocktake = false, fileName = '' }: StockSettings): boolean {
  return isStocktake && isRejectedRowsFile(fileName);
}

export function makeStockNdjsonReader(settings: Omit<StockSettings, 'isSum'>): StockReader {
  const { hasSource, isStocktake } = settings;
  const isPart = isPartByName(settings);
  return {
    ignoredColumns: [], notes: [],
    read: (chunks) => readJsonLines(chunks, ({ line, characters, ...json }) => {
      const isRejected = isPart || (isStocktake && json.hasError);
      if (isRejected) throw new AppError('invalid_data', NO_STOCKTAKE);
      const entry = 'issues' in json ? json : parseStockChange(json.value, hasSource);
      return { line, characters, entry };
    }),
  };
}

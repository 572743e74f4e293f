/** The header of a CSV file: finds columns by name, parses `map`, and explains errors. */
import { IMPORT_IGNORED_COLUMNS_LIMIT } from './limits.ts';
import { SENT_FIELDS } from '../domain/catalogue/product-fields.ts';
import { AppError, type Issue } from '../domain/error.ts';
import { isBlank, unescapeFormula } from './csv-cells.ts';
import { invalidQuery } from '../http/request/query.ts';

/** Members of products and of stock changes that are numbers. */
const NUMBERS: ReadonlySet<string> = new Set([
  ...SENT_FIELDS.filter(({ kind }) => kind === 'price' || kind === 'quantity')
    .map(({ name }) => name),
  'set', 'adjust', 'expect', 'sequence',
]);
/** A name that may be a value. */
const NUMBER = /^[-+]?\d[\d.,]*$/;
const MISSING = 'The file has no column for';
/** Shown characters of a column name. */
const NAME_LIMIT_CHARACTERS = 100;

/** How an error explains a parameter of `member:text` pairs. Instruction: `Name one column`. */
type PairsExplanation = Readonly<Record<'parameter' | 'instruction' | 'example', string>>;

/**
 * Parses `name:Title,sku:Code`. A comma ends a text only before a lower-case word and a colon, so
 * texts may contain commas.
 * @throws AppError `invalid_query`
 */
export function parsePairs<Member extends string>(
  text: string, members: readonly Member[], { parameter, instruction, example }: PairsExplanation,
): ReadonlyMap<Member, string> {
  const pairs = new Map<Member, string>();
  for (const pair of text.split(/,(?=[a-z_]+:)/)) {
    const colon = pair.indexOf(':');
    const member = members.find((name) => name === pair.slice(0, colon));
    const value = pair.slice(colon + 1).trim();
    if (!member || value === '' || pairs.has(member)) {
      const detail = `${instruction} for a member of ${members.join(', ')}: ${example}.`;
      throw invalidQuery([{ parameter, code: 'format', detail }]);
    }
    pairs.set(member, value);
  }
  return pairs;
}

/**
 * Parses the columns that a client names, such as `name:Title,sku:Code`.
 * @throws AppError `invalid_query`
 */
export function parseMap<Member extends string>(
  text: string, members: readonly Member[], example: string,
): ReadonlyMap<Member, string> {
  const map = parsePairs(text, members, {
    parameter: 'map', instruction: 'Name one column', example,
  });
  const fault = findMapFault(map);
  if (!fault) return map;
  throw invalidQuery([{ parameter: 'map', code: 'mismatch', detail: fault.detail }]);
}

/**
 * Why a number must not be read from its column: another member has it, too, or the name of the
 * column is a number itself, as in a file without column names.
 */
export function findMapFault<Member extends string>(
  map: Iterable<readonly [Member, string]>,
): { readonly member: Member; readonly detail: string } | undefined {
  const pairs = [...map];
  const isRow = pairs.some(([member]) => member === 'sku' || member === 'id');
  for (const [member, name] of pairs) {
    if (!NUMBERS.has(member)) continue;
    const [other] = pairs.find(([another, otherName]) =>
      another !== member && normalizeName(otherName) === normalizeName(name)) ?? [];
    if (other) {
      const detail = `One column cannot be both ${other} and ${member}: choose another one.`;
      return { member, detail };
    }
    if (!isRow || !NUMBER.test(name)) continue;
    const detail = `"${shortenName(name)}" may be a number of the first row: if the file has no `
      + 'column names, write them in a line above the rows. Otherwise rename the column.';
    return { member, detail };
  }
  return undefined;
}

/**
 * The indexes of the columns that `map` names, in any case.
 * @throws AppError `invalid_query` if there is none
 */
export function findNamedColumns(header: readonly string[], name: string): number[] {
  const normalizedName = normalizeName(name);
  const indexes = header.flatMap((other, index) =>
    (normalizeName(other) === normalizedName ? [index] : []));
  if (indexes.length > 0) return indexes;
  const detail = `The file has no column ${JSON.stringify(name)}. ${describeHeader(header)}`;
  throw invalidQuery([{ parameter: 'map', code: 'unknown', detail }]);
}

/** Rejects two columns with one name, in any case, of which one is read. */
export function assertUnique(header: readonly string[], used: ReadonlySet<number>): void {
  const indexes = new Map([...used].map((index) => [normalizeName(header[index] ?? ''), index]));
  for (const [index, name] of header.entries()) {
    const key = normalizeName(name);
    const other = indexes.get(key);
    if (other === undefined || other === index || key === '') continue;
    const [first, second] = [Math.min(index, other), Math.max(index, other)];
    const [firstName, secondName] = [header[first] ?? '', header[second] ?? ''].map(shortenName);
    const columns = `${first + 1} and ${second + 1}`;
    const fault = firstName === secondName
      ? `The file has the column "${firstName}" twice (columns ${columns})`
      : `The file has the columns "${firstName}" and "${secondName}" (${columns}), which count as `
        + 'the same';
    throw new AppError('invalid_data', `${fault}. Rename or remove one of them.`);
  }
}

/**
 * Rejects a column that is read, if the next one has cells and no name: the heading of both may be
 * one merged cell, as of a stock for each place.
 * @param indexes of the columns of each member; those that `map` names are not checked
 */
export function assertUnmerged<Member extends string>(
  header: readonly string[], indexes: Readonly<Record<Member, readonly number[]>>,
  map: ReadonlyMap<Member, string>, rows: readonly (readonly string[])[],
): void {
  const last = header.findLastIndex((name) => !isBlank(name));
  for (const member in indexes) {
    const index = map.has(member) ? undefined : indexes[member].find((column) => column < last
      && isBlank(header[column + 1] ?? '')
      && rows.some((cells) => !isBlank(cells[column + 1] ?? '')));
    if (index === undefined) continue;
    const name = shortenName(header[index] ?? '');
    const fault = `Column ${index + 2} has cells and no name, so "${name}" may be the heading of `
      + `both. Give it a name, or set map=${member}:${name}`;
    const detail = `Name the column to read, such as map=${member}:${name}.`;
    throw new AppError('invalid_data', `${fault}.`, {
      issues: [{ parameter: 'map', code: 'required', detail }],
    });
  }
}

/** The error of a file with several columns for a member. */
export function ambiguousColumns(
  header: readonly string[], member: string, [first = 0, second = 0]: readonly number[],
): AppError {
  const [firstName, secondName] = [header[first] ?? '', header[second] ?? ''];
  const fault = `The file has two columns for ${member}: "${shortenName(firstName)}" and `
    + `"${shortenName(secondName)}" (columns ${first + 1} and ${second + 1})`;
  if (normalizeName(firstName) === normalizeName(secondName)) {
    return new AppError('invalid_data', `${fault}. Rename or remove one of them.`);
  }
  const [example, other] = [firstName, secondName].map((name) =>
    `map=${member}:${shortenName(name)}`);
  const detail = `Name the column to read, such as ${example}.`;
  const remedy = `Say which one to read, with ${example}, or ${other}`;
  return new AppError('invalid_data', `${fault}. ${remedy}.`, {
    issues: [{ parameter: 'map', code: 'required', detail }],
  });
}

/**
 * The error of a file without columns for these members.
 * @param missing for the message, such as `sku`
 * @param needed members that `map` should name
 * @param explanations why others that seem to have them are not read
 * @param safeDefaults such as `stock:0`
 */
export function missingColumns(
  header: readonly string[], missing: string, needed: readonly string[],
  explanations: readonly string[], safeDefaults: readonly string[] = [],
): AppError {
  const detail = `Name the columns: ${needed.map((member) => `${member}:COLUMN`).join(',')}.`;
  const hint = header.some((name) => NUMBER.test(name.trim()))
    ? ['If that is the first row, write column names in a line above it.'] : [];
  const fault = [
    `${MISSING} ${missing}.`, ...explanations, describeHeader(header), ...hint,
  ].join(' ');
  const issues: Issue[] = [{ parameter: 'map', code: 'required', detail }];
  if (safeDefaults.length > 0) {
    const other = `Or give new products a value: ${safeDefaults.join(',')}.`;
    issues.push({ parameter: 'default', code: 'required', detail: other });
  }
  return new AppError('invalid_data', fault, { issues });
}

export function isMissingColumns(error: unknown): error is AppError {
  return error instanceof AppError && error.publicDetail.startsWith(MISSING);
}

/** The first names of these columns, for messages. */
export function listIgnored(
  header: readonly string[], isIgnored: (index: number) => boolean,
): readonly string[] {
  return header.filter((name, index) => name.trim() !== '' && isIgnored(index))
    .slice(0, IMPORT_IGNORED_COLUMNS_LIMIT);
}

/** How many members have columns; 0 if `map` names a column that the header lacks. */
export function countFound(listColumns: () => readonly (readonly number[])[]): number {
  try {
    return listColumns().filter(({ length }) => length > 0).length;
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_query') return 0;
    throw error;
  }
}

export function normalizeName(name: string): string {
  return unescapeFormula(name).trim().toLowerCase().replace(/\s+/g, ' ');
}

/** If a file already has a column `error`, ours is `import error`: column names are unique. */
const ERROR_COLUMNS = /^(?:import )*error$/;

/** Whether a file that begins with this column is one of rejected rows. */
export function isErrorColumn(name = ''): boolean {
  return ERROR_COLUMNS.test(name);
}

/** Also of a second file of them, and of a second download. */
const FAILED = /\.failed(?:-\d+)?(?: ?\(\d+\))?(?=(?:\.\w+){0,2}$)/;

/** Whether the name says that a file has the rejected rows of another one. */
export function isRejectedRowsFile(name: string): boolean {
  return FAILED.test(name);
}

/** The name of the file for the rejected rows of a file; neither has an extension. */
export function nameRejectedRows(stem: string): string {
  return `${stem.replace(FAILED, '')}.failed`;
}

/** A column name, or another text of the file, for a message. */
export function shortenName(name: string): string {
  return name.trim().slice(0, NAME_LIMIT_CHARACTERS);
}

function describeHeader(header: readonly string[]): string {
  const names = header.map((name) => name.slice(0, NAME_LIMIT_CHARACTERS));
  return `Its columns: ${joinFirst(IMPORT_IGNORED_COLUMNS_LIMIT, names)}.`;
}

/** The first names for a message, and whether there are more. */
export function joinFirst(limit: number, names: readonly string[]): string {
  return names.slice(0, limit).join(', ') + (names.length > limit ? ', ...' : '');
}

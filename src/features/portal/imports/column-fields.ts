/**
 * The columns of an uploaded CSV file: how each is read, and fields to choose other ones. What a
 * seller chose is remembered for the next file with the same column names, in any order and case.
 * Which columns are recognized by name is not remembered.
 */
import { createHash } from 'node:crypto';
import { explainUntrusted } from '../../../transfer/column-names.ts';
import { findMapFault, normalizeName } from '../../../transfer/header.ts';
import { type Field, renderFields } from '../forms/fields.ts';
import type { Form, FormState } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import {
  COLUMN_EXAMPLES_BYTES, COLUMN_NAME_BYTES, IMPORT_COLUMNS_SHOWN, PREVIEW_REASON_BYTES,
} from '../limits.ts';
import { toFields } from './csv-fields.ts';
import type { FileKind, FileRun } from './job-kind.ts';
import type { FileDescription } from './uploaded-file.ts';

/** Values of members, such as the name of each one's column, as plain data. */
export type MemberValues<Member extends string> = readonly (readonly [Member, string])[];

/** The columns of a file that each member is read from, and those that the seller chose. */
interface ColumnUse<Member extends string> {
  readonly members: readonly Member[];
  readonly indexes: Readonly<Record<Member, readonly number[]>>;
  readonly map: MemberValues<Member>;
  label(member: Member): string;
  /** How several columns of a member are used. */
  readonly several: string;
  /** Whether the seller chose the columns for an earlier file. */
  readonly isRemembered: boolean | undefined;
}

/** Names of the form fields. */
export function columnFieldNames(members: readonly string[]): string[] {
  return members.map((member) => `column_${member}`);
}

/**
 * Reads the chosen columns; ignores values that the form does not offer. Adds an error for a number
 * that cannot be read from its column.
 */
export function readColumns<Member extends string>(
  form: Form, members: readonly Member[], { head: { header } }: FileDescription,
  errors: Map<string, string>,
): MemberValues<Member> {
  const map = members.flatMap((member): MemberValues<Member> => {
    const name = header[findWholeNumber(form.get(`column_${member}`)) ?? -1];
    return name ? [[member, name]] : [];
  });
  const fault = findMapFault(map);
  if (fault) errors.set(`column_${fault.member}`, fault.detail);
  return map;
}

/** A choice of columns for each member. */
export function renderColumnFields<Member extends string>(
  use: ColumnUse<Member>, { head: { header } }: FileDescription, state: FormState,
): Html {
  const chosenIndexes = new Map(use.map.map(([member, name]) => [member, header.indexOf(name)]));
  const choices = header.flatMap((name, index) => {
    const isShown = index < IMPORT_COLUMNS_SHOWN || [...chosenIndexes.values()].includes(index);
    if (name.trim() === '' || !isShown) return [];
    return { value: String(index), label: shorten(name, COLUMN_NAME_BYTES) };
  });
  return html`${use.isRemembered && html`<p>The columns below are those that you chose for your last
      import of a file with the same column names.</p>`}
    <div class="grid">${renderFields(use.members.map((member): Field => ({
    name: `column_${member}`, label: `Column for ${use.label(member)}`, control: 'select',
    initial: String(chosenIndexes.get(member) ?? ''),
    choices: [{ value: '', label: describeFound(use, header, member) }, ...choices],
  })), state)}</div>`;
}

/** The label of the option that chooses no column for a member. */
function describeFound<Member extends string>(
  { indexes, map, several }: ColumnUse<Member>, header: readonly string[], member: Member,
): string {
  if (map.some(([other]) => other === member)) return 'Detect by name';
  const names = indexes[member].map((index) => shorten(header[index] ?? '', COLUMN_NAME_BYTES));
  if (names.length === 0) return 'Not found';
  return `Detected: ${names.join(several)}`;
}

/** Why rows cannot be read. @param what Such as `named name, price` */
export function describeMissing(
  what: string, { head: { header, untrusted = [], notes = [] } }: FileDescription,
  members: readonly string[],
): string {
  const explanations = explainUntrusted(header, untrusted, members);
  const remedy = 'Choose the columns below.';
  return [`The file has no column ${what}.`, ...explanations, ...notes.map(toFields), remedy]
    .map((sentence) => shorten(sentence, PREVIEW_REASON_BYTES)).join(' ');
}

/** Why rows cannot be read: several columns for a member. */
export function describeAmbiguous(
  member: string, indexes: readonly number[], { head: { header } }: FileDescription,
): string {
  const names = indexes.map((index) => header[index] ?? '');
  const quotedNames = names.map((name) => `"${shorten(name, COLUMN_NAME_BYTES)}"`).join(' and ');
  // Columns are chosen by name, in any case.
  const canChoose = new Set(names.map(normalizeName)).size === names.length;
  return `The file has several columns for ${member}: ${quotedNames}. ${canChoose
    ? 'Choose one of them below.' : 'Rename or remove one of them, and upload the file again.'}`;
}

/** The file's columns: how each is read, and its first values. */
export function renderColumns(
  { head: { header, examples } }: FileDescription, describeUse: (index: number) => string,
): Html {
  const rows = header.slice(0, IMPORT_COLUMNS_SHOWN).map((name, index) => [
    name === '' ? '(unnamed)' : shorten(name, COLUMN_NAME_BYTES),
    describeUse(index),
    shorten(
      examples.map((row) => row[index] ?? '').filter((text) => text !== '').join(' · '),
      COLUMN_EXAMPLES_BYTES,
    ),
  ]);
  const more = header.length - rows.length;
  return html`<h2>Columns in the file</h2>${table({
    caption: 'Columns in the file',
    columns: ['Column', 'Read as', 'First rows'],
    rows,
  })}${more > 0 && html`<p>${more} more columns are not shown.</p>`}`;
}

/** The columns chosen for the last imported file with these column names; empty if none were. */
export async function recallColumns<Member extends string>(
  { store, importer: { sellerId }, upload: { head: { header } } }: FileRun, kind: FileKind,
  members: readonly Member[],
): Promise<MemberValues<Member>> {
  const columns = await store.findColumnMapping(sellerId, hashHeader(header, kind)) ?? {};
  return members.flatMap((member): MemberValues<Member> => {
    const normalizedName = columns[member];
    const name = header.find((other) => normalizeName(other) === normalizedName);
    return name === undefined ? [] : [[member, name]];
  });
}

/**
 * Call it when an import starts: only that shows that the choice was right. No choice removes an
 * earlier one. NDJSON has no columns.
 */
export async function rememberColumns(
  { store, importer: { sellerId }, upload: { head: { format, header } } }: FileRun, kind: FileKind,
  map: MemberValues<string>,
): Promise<void> {
  if (format !== 'csv') return;
  const columns = map.map(([member, name]) => [member, normalizeName(name)] as const);
  await store.keepColumnMapping(sellerId, hashHeader(header, kind), Object.fromEntries(columns));
}

/** SHA-256 of the set of column names, in hexadecimal digits. Stored: never change it. */
function hashHeader(header: readonly string[], kind: FileKind): string {
  const names = [...new Set(header.map(normalizeName))].sort();
  const content = kind === 'stock' ? { stock: names } : names;
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/** Import settings: the column for each member, and defaults for new products. */
import type { ImportMode } from '../../../store/catalogue-store.ts';
import { DEFAULTABLE, type Member, MEMBERS } from '../../../transfer/columns.ts';
import { type Choice, postForm, renderFields } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { card, table } from '../html/elements.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { COLUMN_EXAMPLES_BYTES, COLUMN_NAME_BYTES, IMPORT_COLUMNS_SHOWN } from '../limits.ts';
import type { PageRequest } from '../route.ts';
import type { ImportJob } from './import-job.ts';
import type { ProductImport, ProductSettings } from './product-import.ts';

type Columns = NonNullable<ProductImport['columns']>;

const memberLabel = (member: Member): string => (member === 'sku' ? 'SKU' : member);

type ModeChoice = Choice & { readonly value: ImportMode };

const UPSERT_LABEL = 'Create new products and update existing ones';
const MODES: readonly [ModeChoice, ...ModeChoice[]] = [
  { value: 'upsert', label: UPSERT_LABEL },
  { value: 'update', label: 'Update only the columns in the file' },
  { value: 'create', label: 'Create new products only' },
];

/** Names of the form fields. */
export const SETTINGS_FIELDS: readonly string[] = [
  'mode', ...MEMBERS.map((member) => `column_${member}`),
  ...DEFAULTABLE.map((member) => `default_${member}`),
];

/** Reads the settings form; ignores values that the form does not offer. */
export function readSettings(form: Form, { upload: { head } }: ProductImport): ProductSettings {
  const map = new Map<Member, string>();
  for (const member of MEMBERS) {
    const name = head.header[findWholeNumber(form.get(`column_${member}`)) ?? -1];
    if (name) map.set(member, name);
  }
  const { value: mode } = MODES.find(({ value }) => value === form.get('mode')) ?? MODES[0];
  const defaults = new Map<Member, string>();
  // An update creates no products, so it has no fields for defaults.
  for (const member of mode === 'update' ? [] : DEFAULTABLE) {
    const text = form.getTrimmed(`default_${member}`);
    if (text !== '') defaults.set(member, text);
  }
  return { mode, map, defaults };
}

const columnLabel = (member: Member): string => `Column for ${memberLabel(member)}`;
const defaultLabel = (member: string): string => `Default ${member} for new products`;

/** Advice on rejected rows, using the form's labels; undefined if no remedy fits most rows. */
export function advise(
  { progress, upload: { head } }: ProductImport, isDryRun: boolean,
): string | undefined {
  const sentence = (remedy: string): string => isDryRun
    ? `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)} below.`
    : `Upload the file again: ${remedy}.`;
  return progress.causes.advise({
    giveDefaults: (values) => sentence(values.map((pair) => {
      const [member = '', value = ''] = pair.split(':');
      return `enter ${value} as "${defaultLabel(member)}"`;
    }).join(' and ')),
    nameColumns: (members) => sentence(`choose the column for ${members.join(' and for ')}`),
    change: sentence(`choose "${UPSERT_LABEL}"`),
    create: sentence(`choose "${UPSERT_LABEL}"`),
  }, { format: head.format, ignoredColumns: progress.ignoredColumns });
}

export function renderSettings(
  request: PageRequest, { id }: ImportJob, task: ProductImport, settings: ProductSettings,
): Html {
  const { columns, upload: { head } } = task;
  const content = html`
    ${settings.hasRememberedColumns && html`<p>The columns below are those that you chose
      for your last import of a file with the same column names.</p>`}
    ${renderFields([{
    name: 'mode', label: 'What to import', control: 'select', initial: settings.mode,
    choices: MODES,
  }])}
    ${columns && renderColumnFields(columns, head.header, settings)}
    <button class="plain">Update preview</button>`;
  const path = request.link(`/import/${id}`);
  return card('reading', 'Import settings', postForm(request, path, content));
}

/** The file's columns: how each is read, and its first values. */
export function renderColumns({ columns, upload: { head } }: ProductImport): Content {
  if (!columns) return undefined;
  const { header, examples } = head;
  const rows = header.slice(0, IMPORT_COLUMNS_SHOWN).map((name, index) => [
    name === '' ? '(unnamed)' : shorten(name, COLUMN_NAME_BYTES),
    describeUse(columns, index),
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

function describeUse({ indexes, used }: Columns, index: number): string {
  const members = MEMBERS.filter((member) => indexes[member].includes(index));
  if (members.length > 0) return members.map(memberLabel).join(', ');
  return used.has(index) ? 'groups rows' : 'not used';
}

function renderColumnFields(
  columns: Columns, header: readonly string[], { mode, map, defaults }: ProductSettings,
): Html {
  const chosen = new Map([...map].map(([member, name]) => [member, header.indexOf(name)]));
  const known = header.flatMap((name, index) => {
    const isShown = index < IMPORT_COLUMNS_SHOWN || [...chosen.values()].includes(index);
    if (name.trim() === '' || !isShown) return [];
    return { value: String(index), label: shorten(name, COLUMN_NAME_BYTES) };
  });
  return html`<div class="grid">
    ${renderFields(MEMBERS.map((member) => ({
    name: `column_${member}`, label: columnLabel(member), control: 'select',
    initial: String(chosen.get(member) ?? ''),
    choices: [{ value: '', label: describeFound(columns, header, member, map) }, ...known],
  })))}
  </div>
  ${mode !== 'update' && html`<div class="grid">
    ${renderFields(DEFAULTABLE.map((member) => ({
    name: `default_${member}`, label: defaultLabel(member), initial: defaults.get(member) ?? '',
  })))}
  </div>`}`;
}

/** The label of the option that chooses no column for a member. */
function describeFound(
  { indexes }: Columns, header: readonly string[], member: Member, map: ProductSettings['map'],
): string {
  if (map.has(member)) return 'Detect by name';
  const names = indexes[member].map((index) => shorten(header[index] ?? '', COLUMN_NAME_BYTES));
  return names.length > 0 ? `Detected: ${names.join(', then ')}` : 'Not found';
}

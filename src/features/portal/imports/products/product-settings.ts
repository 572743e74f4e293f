/** Settings of the import of a product file: mode, columns, and defaults for new products. */
import type { ImportMode } from '../../../../store/catalogue-store.ts';
import {
  type Columns, DEFAULTABLE, type Member, MEMBERS,
} from '../../../../transfer/columns.ts';
import { adviseOn } from '../../../../transfer/import-advice.ts';
import { type Choice, postForm, renderFields } from '../../forms/fields.ts';
import { type Form, type FormState, hiddenField } from '../../forms/form.ts';
import { card } from '../../html/elements.ts';
import { html, type Html, shorten } from '../../html/html.ts';
import { COLUMN_NAME_BYTES } from '../../limits.ts';
import type { PageRequest } from '../../route.ts';
import {
  columnFieldNames, type MemberValues, readColumns, renderColumnFields,
} from '../column-fields.ts';
import { columnsOf, type ProductDescription, type ProductSettings } from './product-import.ts';

const memberLabel = (member: Member): string => (member === 'sku' ? 'SKU' : member);

type ModeChoice = Choice & { readonly value: ImportMode };

const UPSERT_LABEL = 'Create new products and update existing ones';
const MODES: readonly [ModeChoice, ...ModeChoice[]] = [
  { value: 'upsert', label: UPSERT_LABEL },
  { value: 'update', label: 'Update only the columns in the file' },
  { value: 'create', label: 'Create new products only' },
];

/** Other files rarely have the other members: these are found by their own names only. */
const RARE_MEMBERS: ReadonlySet<Member> = new Set(['metadata', 'low_stock', 'archived']);
const CHOSEN_MEMBERS = MEMBERS.filter((member) => !RARE_MEMBERS.has(member));

/** Names of the form fields. */
export const SETTINGS_FIELDS: readonly string[] = [
  'mode', ...columnFieldNames(CHOSEN_MEMBERS),
  ...DEFAULTABLE.map((member) => `default_${member}`),
];

/** Reads the settings form; ignores values that the form does not offer. */
export function readSettings(form: Form, { file }: ProductDescription): ProductSettings {
  const { value: mode } = MODES.find(({ value }) => value === form.get('mode')) ?? MODES[0];
  // An update creates no products, so it has no fields for defaults.
  const members = mode === 'update' ? [] : DEFAULTABLE;
  const defaults = members.flatMap((member): MemberValues<Member> => {
    const text = form.getTrimmed(`default_${member}`);
    return text === '' ? [] : [[member, text]];
  });
  return { mode, map: readColumns(form, CHOSEN_MEMBERS, file), defaults };
}

const defaultLabel = (member: string): string => `Default ${member} for new products`;

/** Advice on rejected rows, using the form's labels; undefined if no remedy fits most rows. */
export function advise(
  { progress, file: { head } }: ProductDescription, isDryRun: boolean,
): string | undefined {
  const sentence = (remedy: string): string => isDryRun
    ? `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)} below.`
    : `Upload the file again: ${remedy}.`;
  return progress.commonCause && adviseOn(progress.commonCause, {
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
  request: PageRequest, jobId: string, task: ProductDescription, state: FormState,
): Html {
  const { file, settings } = task;
  const columns = columnsOf(task);
  const { mode, map, defaults, hasRememberedColumns: isRemembered } = settings;
  const defaultFields = DEFAULTABLE.map((member) => ({
    name: `default_${member}`, label: defaultLabel(member),
    initial: new Map(defaults).get(member) ?? '',
  }));
  const content = html`${hiddenField('kind', task.kind)}${renderFields([{
    name: 'mode', label: 'What to import', control: 'select', initial: mode, choices: MODES,
  }], state)}
    ${columns && renderColumnFields({
    members: CHOSEN_MEMBERS, indexes: columns.indexes, map, label: memberLabel, several: ', then ',
    isRemembered,
  }, file, state)}
    ${columns && mode !== 'update' && html`<div class="grid">
      ${renderFields(defaultFields, state)}</div>`}
    <button>Update preview</button>`;
  const path = request.link(`/import/${jobId}`);
  return card('reading', 'Import settings', postForm(request, path, content));
}

/** How a product file's column is used. */
export function describeUse({ indexes, pairs, used }: Columns, index: number): string {
  const members = MEMBERS.filter((member) => indexes[member].includes(index));
  const pair = pairs.get(index);
  if (pair !== undefined) return `metadata: ${shorten(pair, COLUMN_NAME_BYTES)}`;
  if (members.length > 0) return members.map(memberLabel).join(', ');
  return used.has(index) ? 'groups rows' : 'not used';
}

/** Settings of the import of a stock file: its columns, and whether it is a stocktake. */
import { stockReason } from '../../../../domain/catalogue/stock-change.ts';
import { STOCK_SYNC_VALIDATORS, stockSource } from '../../../../domain/catalogue/stock-sync.ts';
import { REASON_LIMIT_CODE_POINTS, SOURCE_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import type { Validator } from '../../../../domain/validation.ts';
import { STOCK_MEMBERS, type StockMember } from '../../../../transfer/stock-columns.ts';
import { type Field, postForm, renderFields } from '../../forms/fields.ts';
import { type Form, type FormState, hiddenField, takeValue } from '../../forms/form.ts';
import { parseTypedWhole } from '../../forms/typed-values.ts';
import { card } from '../../html/elements.ts';
import { html, type Html } from '../../html/html.ts';
import type { PageRequest } from '../../route.ts';
import { columnFieldNames, readColumns, renderColumnFields } from '../column-fields.ts';
import { type StockDescription, stockColumnsOf, type StockSettings } from './stock-import.ts';

/** How the page names the members of a stock change. */
export const MEMBER_LABELS: Readonly<Record<StockMember, string>> = {
  sku: 'SKU', id: 'product ID', set: 'stock', adjust: 'stock adjustment', expect: 'expected stock',
  sequence: 'sequence number', reason: 'reason',
};

export const COMPLETE_LABEL = 'This file is a complete stocktake: set them to 0';
export const ZERO_LIMIT_LABEL = 'Limit on products set to 0, in percent of those in stock';

function listFields({ isComplete, zeroLimitPercent, reason, source }: StockSettings): Field[] {
  return [
    {
      name: 'complete', label: 'Products that the file does not list', control: 'checkboxes',
      choices: [{ value: 'true', label: COMPLETE_LABEL }],
      initial: isComplete ? 'true' : '',
    },
    {
      name: 'zero_limit', label: ZERO_LIMIT_LABEL, inputMode: 'decimal', maxLength: 6,
      initial: String(zeroLimitPercent),
      hint: 'For a stocktake. Protects your stock from a file that is cut short.',
    },
    {
      name: 'reason', label: 'Reason', maxLength: REASON_LIMIT_CODE_POINTS, initial: reason ?? '',
      hint: 'Optional. Shown in the stock ledger.',
    },
    {
      name: 'source', label: 'Source', maxLength: SOURCE_LIMIT_CODE_POINTS, initial: source ?? '',
      hint: 'Optional. The system that the numbers come from, such as "till".',
    },
  ];
}

/** The fields of the form, for its error summary. */
export function listStockFields({ settings }: StockDescription): readonly Field[] {
  return listFields(settings);
}

/** Names of the form fields. */
export const STOCK_SETTINGS_FIELDS: readonly string[] =
  ['complete', 'zero_limit', 'reason', 'source', ...columnFieldNames(STOCK_MEMBERS)];

/** Reads the settings form. Adds an error for each invalid field. */
export function readStockSettings(
  form: Form, { file }: StockDescription, errors: Map<string, string>,
): StockSettings {
  const readLine = (name: string, { parse }: Validator<string>): string | undefined => {
    const text = form.getTrimmed(name);
    return text === '' ? undefined : takeValue(errors, name, parse(text), undefined);
  };
  const typed = parseTypedWhole(form.get('zero_limit'));
  const percent = 'value' in typed ? STOCK_SYNC_VALIDATORS.zero_limit.parse(typed.value) : typed;
  return {
    map: readColumns(form, STOCK_MEMBERS, file),
    isComplete: form.get('complete') === 'true',
    zeroLimitPercent: takeValue(errors, 'zero_limit', percent, 0),
    reason: readLine('reason', stockReason),
    source: readLine('source', stockSource),
  };
}

export function renderStockSettings(
  request: PageRequest, jobId: string, task: StockDescription, state: FormState,
): Html {
  const { file, settings } = task;
  const columns = stockColumnsOf(task);
  const content = html`${hiddenField('kind', task.kind)}
    ${renderFields(listFields(settings), state)}
    ${columns && renderColumnFields({
    members: STOCK_MEMBERS, indexes: columns.indexes, map: settings.map, several: ' or ',
    label: (member) => MEMBER_LABELS[member], isRemembered: settings.hasRememberedColumns,
  }, file, state)}
    <button>Update preview</button>`;
  const path = request.link(`/import/${jobId}`);
  return card('reading', 'Import settings', postForm(request, path, content));
}

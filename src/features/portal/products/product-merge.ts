/**
 * Three-way merge of an edited product: the values when the form was opened, the current values,
 * and the submitted values. A field that only one side changed takes that side's value; if both
 * sides changed a field differently, the seller decides.
 *
 * The form carries its base in a hidden field, because the history at its position may be pruned. A
 * forged base gains nothing: it overwrites only what the same account may overwrite anyway.
 */
import { EDITED_FIELDS, type EditedField, type EditedValues } from './product-form.ts';

type Side = 'mine' | 'theirs';
/** The side whose value is saved. `kept` is also theirs: only they changed the field. */
type Outcome = Side | 'kept' | 'collision';

/** The base from the form: only compared, never saved. */
type MergeBase = Readonly<Record<keyof EditedValues, unknown>>;

/** A submitted form with valid fields. */
export interface SubmittedEdit {
  /** Undefined if unreadable: then every field that differs is a collision. */
  readonly base: MergeBase | undefined;
  readonly mine: EditedValues;
  /** The choices on a conflict page, by field; undefined for a missing choice. */
  readonly choices: ReadonlyMap<EditedField, Side | undefined>;
}

export function mergeProduct(
  { base, mine, choices }: SubmittedEdit, theirs: EditedValues,
): ReadonlyMap<EditedField, Outcome> {
  const decide = (field: EditedField): Outcome => {
    const { member } = field;
    const [was, now, typed] = [base?.[member], theirs[member], mine[member]]
      .map((value) => value ?? null);
    if (typed === now) return 'theirs';
    // A choice between two versions is void once either of them changes.
    if (choices.has(field)) return (was === now && choices.get(field)) || 'collision';
    if (was === now) return 'mine';
    return was === typed ? 'kept' : 'collision';
  };
  return new Map(EDITED_FIELDS.map((field) => [field, decide(field)]));
}

const NUMBERS: ReadonlySet<EditedField['kind']> = new Set(['price', 'quantity']);

/** The hidden field's text. */
export function formatBase(values: EditedValues): string {
  return JSON.stringify(EDITED_FIELDS.map(({ member }) => values[member]));
}

/** Undefined unless `formatBase` could have written the text. */
export function parseBase(text: string): MergeBase | undefined {
  try {
    const values: unknown = JSON.parse(text);
    if (!Array.isArray(values)) return undefined;
    const isValid = EDITED_FIELDS.every(({ kind, isRequired }, index) =>
      typeof values[index] === (NUMBERS.has(kind) ? 'number' : 'string')
      || (!isRequired && values[index] === null));
    if (!isValid) return undefined;
    // The cast: EDITED_FIELDS has every member.
    return Object.fromEntries(EDITED_FIELDS.map(({ member }, index) =>
      [member, values[index]])) as MergeBase;
  } catch {
    return undefined;
  }
}

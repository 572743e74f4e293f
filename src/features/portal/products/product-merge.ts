/**
 * Three-way merge of an edited product: the values that the form was opened with, those saved now,
 * and those submitted. A field that only one side changed takes that side's value; a field that
 * both changed differently is a collision, which the seller decides.
 *
 * The form carries its base in a hidden field, since the history at its position may be pruned. A
 * forged base gains nothing: it overwrites only what the same account may overwrite anyway.
 */
import { EDITED_FIELDS, type EditedField, type EditedValues } from './product-form.ts';

type Side = 'mine' | 'theirs';
/** The side whose value is saved. `kept` is theirs, too: only they changed the field. */
type Outcome = Side | 'kept' | 'collision';

/** Values that a form returns: compared, and never saved. */
type MergeBase = Readonly<Record<keyof EditedValues, unknown>>;

/** A form whose fields are valid. */
export interface SubmittedEdit {
  /** Undefined if it is unreadable: then every field that differs is a collision. */
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
    const [was, now, typed] = [base?.[member], theirs[member], mine[member]];
    if (typed === now) return 'theirs';
    // A choice was made between two versions: it is void once one of them changes.
    if (choices.has(field)) return (was === now && choices.get(field)) || 'collision';
    if (was === now) return 'mine';
    return was === typed ? 'kept' : 'collision';
  };
  return new Map(EDITED_FIELDS.map((field) => [field, decide(field)]));
}

/** The text of the hidden field. */
export function formatBase(values: EditedValues): string {
  return JSON.stringify(EDITED_FIELDS.map(({ member }) => values[member]));
}

/** Undefined for a text that `formatBase` cannot have written. */
export function parseBase(text: string): MergeBase | undefined {
  try {
    const values: unknown = JSON.parse(text);
    if (!Array.isArray(values)) return undefined;
    const isValid = EDITED_FIELDS.every(({ kind, isRequired }, index) =>
      typeof values[index] === (kind === 'text' ? 'string' : 'number')
      || (!isRequired && values[index] === null));
    if (!isValid) return undefined;
    // The cast: the table has each member.
    return Object.fromEntries(EDITED_FIELDS.map(({ member }, index) =>
      [member, values[index]])) as MergeBase;
  } catch {
    return undefined;
  }
}

/**
 * Three-way merge of an edited product: the values that the form was opened with, those saved now,
 * and those submitted. A field that only one side changed takes that side's value; a field that
 * both changed differently is a collision, which the seller decides.
 *
 * The form carries its base in a hidden field, since the history at its position may be pruned. A
 * forged base gains nothing: it overwrites only what the same account may overwrite anyway.
 */
import {
  type NewProduct, SENT_FIELDS, type SentField, type SentFieldName,
} from '../../../domain/catalogue/product-fields.ts';

export type EditedField = Exclude<SentFieldName, 'stock'>;
export type EditedValues = Omit<NewProduct, 'stock'>;

interface EditedMember extends SentField {
  readonly name: EditedField;
  readonly member: keyof EditedValues;
}

/** The fields of the form. Stock has forms of its own. */
const EDITED = SENT_FIELDS.filter((field): field is EditedMember => field.name !== 'stock');
export const EDITED_FIELDS = EDITED.map(({ name }) => name);
type Side = 'mine' | 'theirs';

/** Values that a form returns: compared, and never saved. */
export type MergeBase = {
  readonly [Member in keyof EditedValues]:
    EditedValues[Member] extends string ? string : EditedValues[Member];
};

/** A form whose fields are valid. */
export interface SubmittedEdit {
  /** Undefined if it is unreadable: then every field that differs is a collision. */
  readonly base: MergeBase | undefined;
  readonly mine: EditedValues;
  /** The choices on a conflict page, by field; undefined for a missing choice. */
  readonly choices: ReadonlyMap<EditedField, Side | undefined>;
}

interface Merge {
  /** A colliding field has its current value. */
  readonly merged: EditedValues;
  readonly collisions: readonly EditedField[];
  /** Fields that only the other side changed. */
  readonly kept: readonly EditedField[];
}

export function mergeProduct({ base, mine, choices }: SubmittedEdit, theirs: EditedValues): Merge {
  const outcomes = new Map(EDITED.map(({ name, member }) => {
    const [was, now, typed] = [base?.[member], theirs[member], mine[member]];
    const decide = (): Side | 'kept' | 'collision' => {
      if (typed === now) return 'theirs';
      // A choice was made between two versions: it is void once one of them changes.
      if (choices.has(name)) return (was === now && choices.get(name)) || 'collision';
      if (was === now) return 'mine';
      return was === typed ? 'kept' : 'collision';
    };
    return [name, decide()];
  }));
  const merged = Object.fromEntries(EDITED.map(({ name, member }) =>
    [member, (outcomes.get(name) === 'mine' ? mine : theirs)[member]]));
  return {
    merged: merged as unknown as EditedValues, // each member has its own value
    collisions: EDITED_FIELDS.filter((field) => outcomes.get(field) === 'collision'),
    kept: EDITED_FIELDS.filter((field) => outcomes.get(field) === 'kept'),
  };
}

/** The text of the hidden field. */
export function formatBase(values: MergeBase): string {
  return JSON.stringify(EDITED.map(({ member }) => values[member]));
}

/** Undefined for a text that `formatBase` cannot have written. */
export function parseBase(text: string): MergeBase | undefined {
  const values = parseJson(text);
  if (!Array.isArray(values)) return undefined;
  const isValid = EDITED.every(({ kind, isRequired }, index) =>
    typeof values[index] === (kind === 'text' ? 'string' : 'number')
    || (!isRequired && values[index] === null));
  if (!isValid) return undefined;
  const base = Object.fromEntries(EDITED.map(({ member }, index) => [member, values[index]]));
  return base as unknown as MergeBase; // each value has the type of its member
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

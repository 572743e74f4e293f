/**
 * Three-way merge of an edited product: the values that the form was opened with, those saved now,
 * and those submitted. A field that only one side changed takes that side's value; a field that
 * both changed differently is a collision, which the seller decides.
 *
 * The form carries its base in a hidden field, since the history at its position may be pruned. A
 * forged base gains nothing: it overwrites only what the same account may overwrite anyway.
 */
import type { NewProduct } from '../../../domain/catalogue/product-fields.ts';

/** The fields of the form and the members they edit. Stock has forms of its own. */
const MEMBERS = { name: 'name', category: 'category', sku: 'sku', price: 'priceMinor' } as const;

export const EDITED_FIELDS = ['name', 'category', 'sku', 'price'] as const;
export type EditedField = typeof EDITED_FIELDS[number];
export type EditedValues = Pick<NewProduct, typeof MEMBERS[EditedField]>;
export type Side = 'mine' | 'theirs';

/** Values that a form returns: compared, and never saved. */
export interface MergeBase {
  readonly name: string;
  readonly category: string;
  readonly sku: string;
  readonly priceMinor: number;
}

/** A form whose fields are valid. */
export interface SubmittedEdit {
  /** Undefined if it is unreadable: then every field that differs is a collision. */
  readonly base: MergeBase | undefined;
  readonly mine: EditedValues;
  /** The fields that a conflict page asked about; undefined for one that was left open. */
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
  const outcomes = new Map(EDITED_FIELDS.map((field) => {
    const member = MEMBERS[field];
    const [was, now, typed] = [base?.[member], theirs[member], mine[member]];
    const decide = (): Side | 'kept' | 'collision' => {
      if (typed === now) return 'theirs';
      // A choice was made between two versions: it is void once one of them changes.
      if (choices.has(field)) return (was === now && choices.get(field)) || 'collision';
      if (was === now) return 'mine';
      return was === typed ? 'kept' : 'collision';
    };
    return [field, decide()];
  }));
  const isMine = (field: EditedField): boolean => outcomes.get(field) === 'mine';
  return {
    merged: {
      name: (isMine('name') ? mine : theirs).name,
      category: (isMine('category') ? mine : theirs).category,
      sku: (isMine('sku') ? mine : theirs).sku,
      priceMinor: (isMine('price') ? mine : theirs).priceMinor,
    },
    collisions: EDITED_FIELDS.filter((field) => outcomes.get(field) === 'collision'),
    kept: EDITED_FIELDS.filter((field) => outcomes.get(field) === 'kept'),
  };
}

/** The text of the hidden field. */
export function formatBase({ name, category, sku, priceMinor }: MergeBase): string {
  return JSON.stringify([name, category, sku, priceMinor]);
}

/** Undefined for a text that `formatBase` cannot have written. */
export function parseBase(text: string): MergeBase | undefined {
  const values = parseJson(text);
  if (!Array.isArray(values)) return undefined;
  const [name, category, sku, priceMinor]: readonly unknown[] = values;
  if (typeof name !== 'string' || typeof category !== 'string') return undefined;
  if (typeof sku !== 'string' || typeof priceMinor !== 'number') return undefined;
  return { name, category, sku, priceMinor };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

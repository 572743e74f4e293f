/** Labels of the change types. */
import { CHANGE_TYPES, type ChangeType } from '../../../domain/catalogue/change.ts';
import type { Choice } from '../forms/fields.ts';

const LABELS: Readonly<Record<ChangeType, string>> = {
  created: 'Products created',
  updated: 'Products updated',
  deleted: 'Products deleted',
  stock: 'Stock changes only',
};

export const CHANGE_TYPE_CHOICES: readonly Choice[] =
  CHANGE_TYPES.map((type) => ({ value: type, label: LABELS[type] }));

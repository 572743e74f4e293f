/** For how long what is rotated goes on beside what takes its place, as forms ask for it. */
import { findDuration } from '../../../domain/duration.ts';
import { AppError } from '../../../domain/error.ts';
import type { Choice } from './fields.ts';
import type { Form } from './form.ts';

export const OVERLAPS: readonly Choice[] = [
  { value: '0s', label: 'not at all: it ends now' },
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
];

/** In milliseconds. @throws AppError `invalid_data` for what no page offers */
export function readOverlap(form: Form): number {
  const chosen = OVERLAPS.find(({ value }) => value === form.get('overlap'));
  const overlapMs = chosen && findDuration(chosen.value);
  if (overlapMs !== undefined) return overlapMs;
  throw new AppError('invalid_data', 'Choose how long it goes on. Nothing was changed.');
}

/**
 * Revisions: positions as clients get them and send them back. A restored catalogue reaches the
 * same positions again with other changes, so it has a generation: a random mark, absent until the
 * first restore, which precedes its positions: `k7w2q-10`. What an earlier generation handed out
 * is recognized, and never taken for a position of this one.
 */
import { encodeBase32 } from './access/human-code.ts';
import { AppError } from './error.ts';
import { integerValidator, type ParseResult, type Schema, type Validator } from './validation.ts';

/** Undefined for a catalogue that was never restored. */
export type Generation = string | undefined;

/** Without a generation the position itself: 0 to 2^53 - 1. */
export type Revision = number | string;

const REVISION = /^(?:([a-z2-7]{5})-)?(0|[1-9]\d{0,15})$/;

export const revisionSchema: Schema = {
  anyOf: [
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: '^[a-z2-7]{5}-\\d+$' },
  ],
};

/** The mark of 32 random bytes, which the catalogue stores. */
export function toGeneration(bytes: Uint8Array | undefined): Generation {
  return bytes && encodeBase32(bytes).slice(0, 5).toLowerCase();
}

export function toRevision(generation: Generation, position: number): Revision {
  return generation === undefined ? position : `${generation}-${position}`;
}

/** Undefined for text that is no revision of any catalogue. */
export function findRevision(text: string): Revision | undefined {
  const [, mark, digits] = REVISION.exec(text) ?? [];
  const position = Number(digits);
  if (!Number.isSafeInteger(position)) return undefined;
  return mark === undefined ? position : text;
}

/**
 * The position of a revision of this generation, or of its text; undefined for another generation
 * and for other text. 0 begins each of them.
 */
export function findPosition(sent: Revision, generation: Generation): number | undefined {
  const revision = findRevision(String(sent));
  const position = Number(String(revision).split('-').at(-1));
  return position === 0 || revision === toRevision(generation, position) ? position : undefined;
}

/** As `findPosition`. @throws AppError `history_pruned` for another generation */
export function toPosition(revision: Revision, generation: Generation): number {
  const position = findPosition(revision, generation);
  if (position === undefined) throw restored();
  return position;
}

/** The error for what another generation handed out. */
export function restored(): AppError {
  return new AppError('history_pruned', 'This position or cursor is from before the catalogue was '
    + 'restored. Export the catalogue again, and continue from the position of the export.');
}

const integer = integerValidator(0, Number.MAX_SAFE_INTEGER);

/** A revision in JSON, of any generation. */
export function parseRevision(value: unknown): ParseResult<Revision> {
  const isMarked = typeof value === 'string' && typeof findRevision(value) === 'string';
  return isMarked ? { value } : integer.parse(value);
}

/** Reads a revision in JSON as its position. @throws AppError as `toPosition`, from `parse` */
export function positionValidator(generation: Generation): Validator<number> {
  return {
    schema: revisionSchema,
    parse(value) {
      const parsed = parseRevision(value);
      return 'error' in parsed ? parsed : { value: toPosition(parsed.value, generation) };
    },
  };
}

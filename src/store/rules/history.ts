/**
 * Rules of the history that every adapter follows: change events, their times, and which positions
 * can be read.
 */
import type { Change } from '../../domain/catalogue/change.ts';
import { AppError } from '../../domain/error.ts';
import { CLOCK_STEP_LIMIT_MS } from '../limits.ts';
import type { Actor, ImportReference } from '../write.ts';
import type { ChangeChecks } from './review.ts';

/** The actor of change events, and the import that they are part of. */
export interface ChangeActor extends Actor, ImportReference {
  /** Undefined if no change of the mutation needs a review. */
  readonly checks?: ChangeChecks | undefined;
}

/** A change in the version chain of its product. */
export interface ChainedChange extends Change {
  /** Undefined for the first change. */
  readonly previousPosition: number | undefined;
}

/** The range of a seller's history. */
export interface Reach {
  /** Changes up to this position may be pruned. */
  readonly prunedTo: number;
  /** Of the last change. */
  readonly position: number;
}

/**
 * The time of changes made `now`. If the clock steps back a little, the last time is kept, so that
 * times order a catalogue's changes as positions do. A last change far in the future came from a
 * wrong clock and is ignored.
 */
export function timeAfter(lastAt: number, now: number): number {
  return lastAt - now > CLOCK_STEP_LIMIT_MS ? now : Math.max(now, lastAt);
}

/** @throws AppError `history_pruned`, `invalid_query` if the history does not have `position` */
export function assertReached(reach: Reach, position: number, parameter: string): void {
  if (position < reach.prunedTo) throw historyPruned(reach.prunedTo);
  if (position <= reach.position) return;
  const problem = `The catalogue is at position ${reach.position}, before ${position}.`;
  const hint = 'If it was restored from a backup, export it again and continue from there.';
  throw new AppError('invalid_query', `${problem} ${hint}`, {
    issues: [{ parameter, code: 'range', detail: `Must be at most ${reach.position}.` }],
  });
}

export function historyPruned(prunedTo: number): AppError {
  const problem = `The history begins after position ${prunedTo}.`;
  const hint = 'Export the catalogue again, and continue from the position of the export.';
  return new AppError('history_pruned', `${problem} ${hint}`);
}

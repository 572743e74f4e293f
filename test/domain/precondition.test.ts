/** Preconditions on changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPrecondition, type Precondition } from '../../src/domain/precondition.ts';
import { catchAppError } from './validation-errors.ts';

const cases: readonly [Precondition, number | undefined, holds: boolean][] = [
  [{}, 3, true],
  [{}, undefined, true],
  [{ ifMatch: '*' }, 3, true],
  [{ ifMatch: '*' }, undefined, false],
  [{ ifMatch: [3] }, 3, true],
  [{ ifMatch: [2, 3] }, 3, true],
  [{ ifMatch: [2] }, 3, false],
  [{ ifMatch: [] }, 3, false],
  [{ ifMatch: [3] }, undefined, false],
  [{ ifNoneMatch: '*' }, 3, false],
  [{ ifNoneMatch: '*' }, undefined, true],
  [{ ifNoneMatch: [3] }, 3, false],
  [{ ifNoneMatch: [2] }, 3, true],
  [{ ifNoneMatch: [] }, undefined, true],
  [{ ifMatch: [3], ifNoneMatch: [3] }, 3, false],
];

for (const [precondition, position, holds] of cases) {
  const what = position === undefined ? 'no product' : `a product at ${position}`;
  test(`${JSON.stringify(precondition)} ${holds ? 'holds' : 'fails'} for ${what}`, () => {
    if (holds) assertPrecondition(precondition, position);
    else {
      const refusal = catchAppError(() => assertPrecondition(precondition, position));
      assert.equal(refusal.code, 'precondition_failed');
      if (position !== undefined) assert.match(refusal.publicDetail, /"3"/);
    }
  });
}

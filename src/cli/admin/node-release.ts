/**
 * Which releases of Node are safe to run: the newest that this version of the server knows of each
 * line, with all security fixes up to then, and when the line gets no more of them.
 */
import { type Finding, warning } from '../../store/sqlite/check/finding.ts';

interface Line {
  /** The newest release that was known when this version was made: minor and patch. */
  readonly newest: readonly [minor: number, patch: number];
  readonly endOfLife: string;
}

/** Whoever updates the pinned releases updates these. */
const LINES: ReadonlyMap<number, Line> = new Map([
  [24, { newest: [21, 0], endOfLife: '2028-04-30' }],
  [25, { newest: [9, 0], endOfLife: '2026-06-01' }],
  [26, { newest: [10, 0], endOfLife: '2029-04-30' }],
]);
const UPDATE = 'Update Node: only the newest release of a line that is maintained has all '
  + 'security fixes.';

/** `version` is like `v26.10.0`; `now` is milliseconds since 1970. */
export function* checkNodeRelease(version: string, now: number): Generator<Finding, void, void> {
  const numbers = version.replace(/^v/, '').split('.').map(Number);
  const [major = 0, minor = 0, patch = 0] = numbers;
  const line = LINES.get(major);
  if (!line) return; // newer than all that were known; an older one does not run this
  const { newest, endOfLife } = line;
  if (now >= Date.parse(endOfLife)) {
    yield warning(`Node ${version} is of a line that has had no security fixes since ${endOfLife}.`,
      UPDATE);
  } else if (minor < newest[0] || (minor === newest[0] && patch < newest[1])) {
    yield warning(`Node ${version} is older than ${major}.${newest.join('.')}.`, UPDATE);
  }
}

/** How this program is started again, and the Node releases that have all security fixes. */
import { isSea } from 'node:sea';
import { type Finding, warning } from '../store/sql/check/finding.ts';

/** The newest known releases. Update these together with the pinned releases. */
const LINES = [
  { newest: '24.21.0', endOfLife: '2028-04-30' },
  { newest: '25.9.0', endOfLife: '2026-06-01' },
  { newest: '26.10.0', endOfLife: '2029-04-30' },
];
const UPDATE = 'Update Node: only the newest release of a maintained line has all security fixes.';

/**
 * What starts this program, before the name of a command: Node, `options` and `script`; or only the
 * single executable, which contains all of them.
 */
export function listProgram(
  script: string, options: readonly string[] = [],
): readonly [file: string, ...args: string[]] {
  return isSea() ? [process.execPath] : [process.execPath, ...options, script];
}

/**
 * Warns about a release of Node that lacks security fixes.
 * @param version Such as `v26.10.0`.
 * @param now Milliseconds since 1970.
 */
export function* checkNodeRelease(version: string, now: number): Generator<Finding, void, void> {
  const release = version.replace(/^v/, '');
  const [major] = release.split('.');
  const line = LINES.find(({ newest }) => newest.split('.')[0] === major);
  if (!line) return; // newer than this server; older lines cannot run it
  const { newest, endOfLife } = line;
  if (now >= Date.parse(endOfLife)) {
    yield warning(`Node ${version} has had no security fixes since ${endOfLife}.`, UPDATE);
  } else if (release.localeCompare(newest, 'en', { numeric: true }) < 0) {
    yield warning(`Node ${version} is older than ${newest}.`, UPDATE);
  }
}

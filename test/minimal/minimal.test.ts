/** `make minimal`: what it writes and rejects, and that the documents give its numbers. */
import assert from 'node:assert/strict';
import {
  existsSync, globSync, readFileSync, statSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMPOSITION, type Room, ROOMS, type Selection } from '../../.toolchain/composition.ts';
import { measure, measureRoom, writeTree } from '../../.toolchain/minimal.ts';
import { planSource, read, ROOT } from '../../.toolchain/tree.ts';
import { makeFolder } from '../support/folder.ts';
import { listExpectedRoutes, runIn } from './selection.ts';

const SMALLEST: Selection = new Set();
const LINES_LIMIT = 34_000;
/** What only other programs start or read. */
const NOT_REACHED = [
  'src/features/portal/tsconfig.json', 'src/features/telemetry/alerts.yml',
  'src/features/telemetry/dashboard.json', 'src/features/telemetry/log.schema.json',
];
/** Written for each selection, as the composition is. */
const WRITTEN = ['Makefile', 'README.md', 'package.json'];

test('writes the committed files for all rooms', () => {
  const all = new Set(ROOMS);
  for (const { path, write } of COMPOSITION) assert.equal(write(all), read(path), path);
  const tree = planSource(all);
  const lost = globSync('src/**/*.*', { cwd: ROOT })
    .filter((path) => !path.endsWith('.md') && !tree.has(path));
  assert.deepEqual(lost.sort(), NOT_REACHED);
});

test('copies or leaves out every other file', (t) => {
  const folder = makeFolder(t);
  const tests = writeTree(folder, new Set<Room>(['webhooks']));
  const composed = COMPOSITION.map(({ path }) => path);
  const paths = globSync('{src,test,.toolchain}/**/*.*', { cwd: folder })
    .filter((path) => !composed.includes(path) && statSync(join(folder, path)).isFile());
  assert.ok(paths.length > 400, String(paths.length));
  for (const path of paths) {
    assert.ok(readFileSync(join(folder, path)).equals(readFileSync(join(ROOT, path))), path);
  }
  for (const path of WRITTEN) assert.ok(existsSync(join(folder, path)), path);
  assert.ok(existsSync(join(folder, 'src/features/webhooks/deliver.ts')));
  assert.ok(!existsSync(join(folder, 'src/features/imports')));
  assert.ok(tests.includes('test/api/products/create-product.test.ts'));
  assert.ok(tests.some((path) => path.startsWith('test/features/webhooks/')));
  assert.ok(!tests.some((path) => path.startsWith('test/features/imports/')));
});

test('writes package.json with the exports of the selection', (t) => {
  const all = makeFolder(t);
  writeTree(all, new Set(ROOMS));
  assert.equal(readFileSync(join(all, 'package.json'), 'utf8'), read('package.json'));
  const folder = makeFolder(t);
  writeTree(folder, new Set<Room>(['client']));
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  assert.deepEqual(Object.keys(exports), ['./client', './webhooks']);
});

test('rejects an unknown room, a folder with files and no folder, with the names of rooms', async (
  t,
) => {
  const folder = makeFolder(t);
  const script = join(ROOT, '.toolchain/minimal.ts');
  const rooms = `Rooms for WITH: ${ROOMS.join(', ')}.\n`;
  assert.equal(await runIn(folder, script, 'tree', 'webhook'),
    `There is no room "webhook". ${rooms}`);
  assert.ok(!existsSync(join(folder, 'tree')));
  writeFileSync(join(folder, 'file'), '');
  assert.equal(await runIn(folder, script, '.'), `. is not empty. ${rooms}`);
  assert.match(await runIn(folder, script), /^Name a folder: .*\. Rooms for WITH: /);
});

/** To the nearest hundred, so that the documents do not change with every line of the source. */
function round(lines: number): string {
  return (Math.round(lines / 100) * 100).toLocaleString('en');
}

test('keeps the smallest tree small, and gives its numbers in README and SECURITY', () => {
  const { lines, otherLines } = measure(SMALLEST);
  assert.ok(lines <= LINES_LIMIT, String(lines));
  const [readme = '', security = ''] = [read('README.md'), read('SECURITY.md')]
    .map((text) => text.replaceAll(/\s+/g, ' '));
  const numbers = `has about ${round(lines)} lines of TypeScript and JavaScript with their`
    + ` comments, and ${round(otherLines)} of SQL`;
  assert.ok(readme.includes(`The smallest ${numbers}.`), numbers);
  const { api } = listExpectedRoutes(SMALLEST);
  const sentence = `The smallest tree ${numbers}; it has ${api.length} routes.`;
  assert.ok(security.includes(sentence), sentence);
});

test('gives what each room adds in SECURITY', () => {
  const core = listExpectedRoutes(SMALLEST);
  const rows = ROOMS.map((room) => {
    const { api, pages } = listExpectedRoutes(new Set([room]));
    const lines = round(measureRoom(room));
    return `| \`${room}\` | ${lines} | ${api.length - core.api.length} | ${pages.length} |`;
  });
  const table = [...read('SECURITY.md').matchAll(/^(\| `\w+` \| [\d,]+ \| \d+ \| \d+ \|)/gm)];
  assert.deepEqual(table.map(([, row]) => row), rows);
});

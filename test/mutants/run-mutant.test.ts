/** A mutant is found by a test that fails because of it, and by nothing else. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { ROOT } from '../audit/places.ts';
import { makeFolder } from '../support/folder.ts';
import { readAccepted } from './accepted.ts';
import { findMutants, type Mutant } from './find-mutants.ts';
import { MutatedModules } from './mutated-modules.ts';
import { formatTable, listProblems } from './report.ts';
import { isFinding, type MutantResult, runMutant } from './run-mutant.ts';

const GUARD = `export function nameOf(person: { name: string } | undefined): string {
  if (person?.name === '') throw new Error('A name is blank.');
  if (person === undefined) throw new Error('There is no such person.');
  return person.name;
}`;
const REJECTS_BLANK = "assert.throws(() => nameOf({ name: '' }), /blank/);";
const REJECTS_MISSING = 'assert.throws(() => nameOf(undefined), /no such/);';

let modules: MutatedModules;
before(async () => { modules = await MutatedModules.create(); });
after(() => modules.close());

/** The results of the mutants of `GUARD`, with tests that have these bodies. */
async function run(t: TestContext, ...bodies: readonly string[]): Promise<MutantResult[]> {
  const root = makeFolder(t);
  writeFileSync(join(root, 'tsconfig.json'), '{ "include": ["guard.ts"] }');
  writeFileSync(join(root, 'guard.ts'), GUARD);
  const tests = bodies.map((body, index) => {
    const file = join(root, `${index}.test.ts`);
    writeFileSync(file, `import assert from 'node:assert/strict'; import { test } from 'node:test';
      import { nameOf } from './guard.ts'; test('${index}', () => { ${body} });`);
    return relative(ROOT, file);
  });
  const mutants = findMutants(root, ['guard.ts'])
    .map((mutant) => ({ ...mutant, path: relative(ROOT, join(root, mutant.path)) }));
  assert.equal(mutants.length, 2);
  return Promise.all(mutants.map((mutant) => runMutant(mutant, tests, modules)));
}

test('finds a mutant by the first test that fails, and runs no other after it', async (t) => {
  const [blank] = await run(t, "assert.equal(nameOf({ name: 'A' }), 'A');", REJECTS_BLANK, '');
  assert.equal(blank?.outcome, 'found');
  assert.match(blank.test ?? '', /1\.test\.ts$/);
  assert.equal(blank.runs, 2);
});

test('reports a mutant that no test finds, and fails for it', async (t) => {
  const results = await run(t, "assert.equal(nameOf({ name: 'A' }), 'A');");
  assert.deepEqual(results.map(({ outcome }) => outcome), ['survived', 'survived']);
  const mutants = results.map(({ mutant }) => mutant);
  assert.match(listProblems(results, mutants, new Map()).join('\n'), /survived.*name === ''/);
  const accepted = readAccepted(`${mutants.map(({ id }) => id).join('\n')}\n    Why.\n`);
  assert.deepEqual(listProblems(results, mutants, accepted), []);
  assert.match(formatTable(results, accepted), /^check-skipped +2 +0 +0 +2 +0$/m);
});

test('counts a crash of the mutated code apart', async (t) => {
  const results = await run(t, REJECTS_MISSING);
  assert.deepEqual(results.map(({ outcome }) => outcome), ['survived', 'crashed']);
  assert.match(results[1]?.failure?.why ?? '', /TypeError/);
});

test('counts a mutant that cannot be loaded as crashed', async () => {
  const mutant: Mutant = {
    id: 'a', path: 'src/app.ts', operator: 'check-skipped', original: '', source: 'if (',
    places: [], lines: [],
  };
  assert.equal((await runMutant(mutant, [], modules)).outcome, 'crashed');
});

test('fails for an accepted mutant that a test finds, or that no longer exists', async (t) => {
  const results = await run(t, REJECTS_BLANK);
  const mutants = results.map(({ mutant }) => mutant);
  const accepted = readAccepted(
    `${mutants.map(({ id }) => id).join('\n')}\n    Why.\nanother\n    A reason.\n    Its rest.\n`);
  assert.equal(accepted.get('another'), 'A reason. Its rest.');
  assert.deepEqual(listProblems(results, mutants, accepted), [
    `accepted.txt lists a mutant that was found: ${mutants[0]?.id}`,
    'accepted.txt lists a mutant that does not exist: another',
  ]);
  assert.throws(() => readAccepted('another\n'), /no reason/);
});

for (const [why, isCounted] of [
  ['AssertionError [ERR_ASSERTION]: Missing expected exception (TypeError).', true],
  ['Error: A name is blank.', true],
  ['AssertionError: 404\n  actual: 200,\n  expected: 404,', true],
  ['AssertionError: 404\n  actual: 500,\n  expected: 404,', false],
  ['AssertionError: x\n  actual: TypeError: no,\n  expected: 404,', false],
  ["Error: no such column: x { code: 'ERR_SQLITE_ERROR' }", false],
  ["'test timed out after 15000ms'", false],
] as const) {
  test(`${isCounted ? 'counts' : 'does not count'} ${why.replaceAll(/\s+/g, ' ')}`, () => {
    assert.equal(isFinding({ what: 'rejects it (test/a.test.ts:1)', why }), isCounted);
  });
}

test('counts no failure of a file or a worker', () => {
  assert.equal(isFinding({ what: 'test/a.test.ts', why: 'It left a timer open.' }), false);
});

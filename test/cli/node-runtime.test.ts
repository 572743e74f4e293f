/** The Node releases that doctor warns about. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkNodeRelease } from '../../src/cli/node-runtime.ts';

const NOW = Date.parse('2026-11-21');

const releases: readonly [version: string, now: number, says: RegExp | undefined][] = [
  ['v26.10.0', NOW, undefined],
  ['v26.10.1', NOW, undefined],
  ['v26.11.0', NOW, undefined],
  ['v26.9.9', NOW, /^Node v26\.9\.9 is older than 26\.10\.0\.$/],
  ['v24.21.0', NOW, undefined],
  ['v24.15.0', NOW, /^Node v24\.15\.0 is older than 24\.21\.0\.$/],
  ['v25.9.0', NOW, /^Node v25\.9\.0 has had no security fixes since 2026-06-01\.$/],
  ['v24.99.0', Date.parse('2028-05-01'), /no security fixes since 2028-04-30/],
  ['v28.0.0', NOW, undefined],
];

for (const [version, now, says] of releases) {
  test(`${says ? 'warns of' : 'accepts'} Node ${version} on ${new Date(now).toJSON()}`, () => {
    const findings = [...checkNodeRelease(version, now)];
    assert.equal(findings.length, says ? 1 : 0);
    if (says) assert.match(findings[0]?.what ?? '', says);
    assert.ok(findings.every(({ level }) => level === 'warning'));
  });
}

test('treats the Node releases that this project is developed with as the newest', () => {
  const folder = join(import.meta.dirname, '../../.toolchain');
  const pinned = readdirSync(folder).flatMap((name) => /^node-(.+)$/.exec(name)?.[1] ?? []);
  assert.equal(pinned.length, 2);
  for (const release of pinned) {
    const [major, minor] = release.split('.').map(Number);
    assert.deepEqual([...checkNodeRelease(`v${release}`, NOW)], []);
    const [older] = checkNodeRelease(`v${major}.${Number(minor) - 1}.9`, NOW);
    assert.equal(older?.what.endsWith(` is older than ${release}.`), true);
  }
});

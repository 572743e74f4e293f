/** The bills of materials: of the package, and of the packages that build and test it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyClone, make, MANIFEST, ROOT } from './package/clone.ts';
import { makeFolder } from './support/folder.ts';

const isMissing = ['make', 'npm', 'tar'].some((tool) => spawnSync(tool, ['--version']).error);
const options = { skip: isMissing && 'needs make, npm and tar' };

test('lists no runtime package, and each development package with its hash', options, async (t) => {
  const clone = copyClone(join(makeFolder(t), 'clone'));
  const runs = JSON.parse(await make(clone, 'sbom'));
  assert.equal(runs.bomFormat, 'CycloneDX');
  const { name, version } = runs.metadata.component;
  assert.deepEqual([name, version], [MANIFEST.name, MANIFEST.version]);
  assert.deepEqual(runs.components, []);
  const text = await make(clone, 'sbom-dev');
  const { components } = JSON.parse(text);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const locked = Object.entries<{ version: string }>(lock.packages).filter(([path]) => path !== '')
    .map(([path, one]) => `${path.replace(/^.*node_modules\//, '')}@${one.version}`);
  const listed = components.map((component: Record<string, string>) => component['bom-ref']);
  assert.deepEqual(listed.sort(), [...new Set(locked)].sort());
  for (const component of components) {
    assert.equal(component.hashes[0].alg, 'SHA-512', component.name);
    assert.equal(component.properties[0].name, 'cdx:npm:package:development', component.name);
  }
  // No registry URL, and no path of this machine.
  const addresses = text.match(/https?:[^"]*/g);
  assert.deepEqual(addresses, ['http://cyclonedx.org/schema/bom-1.5.schema.json']);
  assert.ok(!text.includes(clone) && !text.includes(process.env['HOME'] ?? '/home'));
});

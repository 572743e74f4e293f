/** The package's types in every supported TypeScript version; `make test` checks the newest. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkConsumer } from '../package/check-consumer.ts';
import { copyClone, pack } from '../package/clone.ts';
import { installPackages } from '../support/install-packages.ts';

const VERSIONS = ['5.6.3', '5.7.3', '5.8.3', '5.9.3', '6.0.3', '7.0.2'];
const NODE_TYPES = '@types/node@26.6.6';

describe('the types of the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-types-'));
  let archive = '';

  before(async () => {
    archive = await pack(copyClone(join(folder, 'clone')));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const version of VERSIONS) {
    test(`have no error in TypeScript ${version}`, async (t) => {
      const project = join(folder, version);
      mkdirSync(project);
      const packages = [`typescript@${version}`, NODE_TYPES, archive];
      if (!await installPackages(t, project, packages)) return;
      const reports = checkConsumer(project, join(project, 'node_modules/typescript/bin/tsc'));
      assert.deepEqual([...new Set(Object.values(reports))], [''], JSON.stringify(reports));
    });
  }
});

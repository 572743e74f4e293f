/** The stylesheet and the scripts, whose names contain a hash of their content. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadAssets } from '../../../src/features/portal/assets.ts';

const FOLDER = new URL('../../../src/features/portal/assets/', import.meta.url);
const TYPES = /^(?:text\/(?:css|javascript); charset=utf-8|image\/svg\+xml)$/;

/** The lines of a file, without comments. */
function readCode(text: string): string[] {
  return text.split('*/').map((part) => part.split('/*')[0]).join('').split('\n')
    .map((line) => line.trim()).filter(Boolean);
}

test('serves each file under the hash of its content, cached forever', () => {
  const assets = loadAssets();
  const names = readdirSync(FOLDER);
  assert.ok(names.includes('portal.css'));
  for (const name of names) {
    const content = readFileSync(new URL(name, FOLDER), 'utf8');
    const [digest = ''] = assets.pathOf(name).split('/');
    assert.equal(assets.pathOf(name), `${digest}/${name}`);
    const { status, headers, body } = assets.answer(digest, name);
    assert.equal(status, 200);
    const text = String(body);
    assert.equal(createHash('sha256').update(text).digest('hex').slice(0, 16), digest);
    assert.doesNotMatch(text, /^\s|^\/\*/m, name);
    assert.deepEqual(readCode(text), readCode(content), name);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.match(headers['content-type'] ?? '', TYPES, name);
  }
});

test('serves nothing under another hash, or outside its folder', () => {
  const assets = loadAssets();
  const [digest = ''] = assets.pathOf('portal.css').split('/');
  for (const [hash, name] of [
    ['0'.repeat(16), 'portal.css'], ['', 'portal.css'], [digest, 'portal.js'],
    [digest, '../html.ts'], [digest, 'constructor'], [digest, ''],
  ] as const) {
    assert.throws(() => assets.answer(hash, name), { code: 'not_found' }, `${hash}/${name}`);
  }
  assert.throws(() => assets.pathOf('no-such.css'), TypeError);
});

test('loads nothing from elsewhere and evaluates no text as code', () => {
  for (const name of readdirSync(FOLDER)) {
    const text = readFileSync(new URL(name, FOLDER), 'utf8')
      .replaceAll('http://www.w3.org/2000/svg', '');
    assert.doesNotMatch(text, /https?:|\/\/\w+\.\w|@import|url\(/, name);
    if (!name.endsWith('.js')) continue;
    const unsafe = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/;
    assert.doesNotMatch(text, unsafe, name);
    assert.match(text, /^\/\*\*/, name);
  }
});

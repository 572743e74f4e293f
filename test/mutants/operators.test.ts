/** Each operator weakens the guards that it is for, and nothing else. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { makeFolder } from '../support/folder.ts';
import { findMutants, type Mutant } from './find-mutants.ts';

/** The mutants of a file with this text. */
function find(t: TestContext, text: string, name = 'sample.ts'): Mutant[] {
  const root = makeFolder(t);
  writeFileSync(join(root, 'tsconfig.json'), '{ "include": ["*.ts"] }');
  writeFileSync(join(root, name), text);
  return findMutants(root, [name]);
}

/** The operators, each with the lines that it changes in a file with this text. */
function weaken(t: TestContext, text: string, name?: string): string[] {
  return find(t, text, name).map(({ operator, source }) => {
    const changed = source.split('\n').filter((line, index) => line !== text.split('\n')[index]);
    return [operator, ...changed.map((line) => line.trim())].join(': ');
  });
}

test('lets a check that throws or returns an error never fail, each alternative by itself', (t) => {
  assert.deepEqual(weaken(t, `
    function parse(text: string): string | undefined {
      if (text === '' || text.length > 9) throw new Error('length');
      if (text.startsWith('x')) return undefined;
      if (text.startsWith('y')) { return 'it starts with y'; }
      if (text === 'nothing to do') return text;
      return text.startsWith('z') ? undefined : text;
    }`), [
    "check-skipped: if (((text === ''), false) || text.length > 9) throw new Error('length');",
    "check-skipped: if (text === '' || ((text.length > 9), false)) throw new Error('length');",
    "comparison-shifted: if (text === '' || text.length >= 9) throw new Error('length');",
    "check-skipped: if (((text.startsWith('x')), false)) return undefined;",
    "check-skipped: if (((text.startsWith('y')), false)) { return 'it starts with y'; }",
    "check-skipped: return ((text.startsWith('z')), false) ? undefined : text;",
  ]);
});

test('accepts what a check would not return for, each of its conditions by itself', (t) => {
  assert.deepEqual(weaken(t, `
    function assertLive(session: { end: number; isOpen: boolean }, now: number): void {
      if (session.isOpen && now < session.end) return;
      throw new Error('ended');
    }
    function isLive(session: { end: number; isOpen: boolean }, now: number): boolean {
      return now <= session.end && session.isOpen;
    }`), [
    'check-skipped: if (((session.isOpen), true) && now < session.end) return;',
    'check-skipped: if (session.isOpen && ((now < session.end), true)) return;',
    'comparison-shifted: if (session.isOpen && now <= session.end) return;',
    'check-skipped: return ((now <= session.end), true) && session.isOpen;',
    'check-skipped: return now <= session.end && ((session.isOpen), true);',
    'comparison-shifted: return now < session.end && session.isOpen;',
  ]);
});

test('skips calls that check, flush or look up a replay, and accepts any signature', (t) => {
  assert.deepEqual(weaken(t, `
    async function write(mac: Buffer, row?: { outcome: string }): Promise<unknown> {
      await assertOwner(1);
      syncFolder('data');
      renameSync('a', 'b');
      db.exec('PRAGMA synchronous = FULL');
      if (!timingSafeEqual(mac, mac)) throw new Error('forged');
      if (row) return replay(row.outcome);
      return notify('done');
    }`), [
    'check-skipped: ;',
    'flush-skipped: ;',
    'flush-skipped: ;',
    "flush-skipped: db.exec('PRAGMA synchronous = OFF');",
    "check-skipped: if (((!timingSafeEqual(mac, mac)), false)) throw new Error('forged');",
    "signature-accepted: if (!(timingSafeEqual(mac, mac), true)) throw new Error('forged');",
    'replay-skipped: if (((row), false)) return replay(row.outcome);',
  ]);
});

test('drops the seller and other conditions of a statement, and asks for other sellers', (t) => {
  assert.deepEqual(weaken(t, [
    'const list = sql.prepare(`', 'SELECT id FROM api_key', 'WHERE seller_id = :sellerId',
    'AND revoked_at IS NULL', 'AND id > :after ORDER BY id`);',
    "const move = sql.prepare('UPDATE person SET role = :role');",
    "const label = 'seller_id';",
  ].join('\n')), [
    'seller-dropped: WHERE (seller_id = :sellerId OR TRUE)',
    'seller-other: WHERE seller_id <> :sellerId',
    'check-skipped: AND (revoked_at IS NULL OR TRUE)',
    'comparison-shifted: AND id >= :after ORDER BY id`);',
  ]);
});

test('gives routes another scope or the least role', (t) => {
  const text = `
    const routes = [
      keyRoute('POST', '/products', 'products:write', createProduct),
      { ...ownerPost, path: '/keys', handle: createKey },
      { ...viewerGet, path: '/', handle: show },
    ];`;
  assert.deepEqual(weaken(t, text, 'routes.ts'), [
    "access-widened: keyRoute('POST', '/products', 'products:read', createProduct),",
    "access-widened: { ...{ ...ownerPost, role: 'viewer' }, path: '/keys', handle: createKey },",
  ]);
  assert.deepEqual(weaken(t, text, 'other.ts'), []);
});

test('names a mutant by its function and text, wherever it is in its file', (t) => {
  const text = `class Keys {
    #assertLive(key: { end: number }, now: number): void {
      if (key.end < now) throw new Error('expired');
    }
  }`;
  const [mutant, ...rest] = find(t, text).map(({ id }) => id);
  assert.equal(mutant, 'sample.ts Keys.#assertLive check-skipped if (key.end < now) throw new '
    + "Error('expired');");
  assert.deepEqual(find(t, `\n\n// A comment.\n${text}`).map(({ id }) => id), [mutant, ...rest]);
});

test('maps a statement to the places where it is used', (t) => {
  const text = `const OWN = 'seller_id = :sellerId';
    function queries(sql: Sql) {
      const find = sql.prepare(\`SELECT id FROM product WHERE \${OWN}\`);
      return { findProduct: (id: number) => find.get(id) };
    }`;
  const [mutant] = find(t, text);
  assert.deepEqual(mutant?.places, [text.indexOf('find.get')]);
});

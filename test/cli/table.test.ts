/** Tables: their columns, and how they fit the terminal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMembers, Table } from '../../src/cli/table.ts';

const terminal = (columns: number) => ({ isTTY: true, columns });
const lines = (text: string): readonly string[] => text.split('\n');

test('has a column for each member that any row has, in its own place', () => {
  const rows = [{ sku: 'A', stock: 1 }, { sku: 'B', barcode: '96385074' }, { stock: 3 }];
  assert.deepEqual(lines(new Table({}).format(rows)), [
    'sku  stock  barcode', 'A    1      -', 'B    -      96385074', '-    3      -',
  ]);
  assert.equal(new Table({}, ['barcode', 'sku']).format(rows),
    'barcode   sku\n-         A\n96385074  B\n-         -');
});

test('prints pairs readably, as a cell and as lines', () => {
  const metadata = { erp: '1', shop: 'a, b' };
  assert.equal(new Table({}).format([{ metadata, none: {} }]),
    `${'metadata'.padEnd(18)}none\nerp=1, shop=a, b  -`);
  assert.equal(formatMembers({ id: 'x', metadata, list: ['a', 'b'], none: {}, unknown: null }),
    'id             x\nmetadata.erp   1\nmetadata.shop  a, b\nlist           a,b\n'
    + 'none           -\nunknown        -');
});

const WIDE = [
  { name: 'A very long name of a product', category: 'Kitchen', sku: 'MUG-1234567890', stock: 12 },
  { name: 'Mug', category: 'Kitchen and dining', sku: 'CUP-1', stock: 1_000_000 },
];

test('cuts the widest text first, then SKUs, and fits or cuts nothing', () => {
  assert.deepEqual(lines(new Table(terminal(60)).format(WIDE)), [
    'name              category           sku             stock',
    'A very long nam…  Kitchen            MUG-1234567890  12',
    'Mug               Kitchen and dini…  CUP-1           1000000',
  ]);
  assert.deepEqual(lines(new Table(terminal(33)).format(WIDE)), [
    'name  cat…  sku           stock',
    'A v…  Kit…  MUG-1234567…  12',
    'Mug   Kit…  CUP-1         1000000',
  ]);
  assert.equal(new Table(terminal(32)).format(WIDE), new Table({}).format(WIDE));
});

test('cuts no number, time or id', () => {
  const uncut = [
    '1234.5', '-12', '4006381333931', '2026-11-30T20:30:12.516Z', 'key_1k8n2d7h4001k8n2d45na8',
    'sel_1k8n2d7h400',
  ];
  for (const text of uncut) {
    const rows = [{ name: 'A long name', text }, { name: 'B', text: 'A longer text'.repeat(3) }];
    const width = Math.max(text.length, 4);
    const fitted = new Table(terminal(4 + 2 + width)).format(rows);
    assert.ok(fitted.includes(`\nA l…  ${text}\nB`), fitted);
    assert.equal(new Table(terminal(5 + width)).format(rows), new Table({}).format(rows));
  }
});

test('fits every line into the terminal, where texts and SKUs can be cut enough', () => {
  for (let columns = 33; columns < 90; columns += 1) {
    for (const line of lines(new Table(terminal(columns)).format(WIDE))) {
      assert.ok(line.length <= columns, `${columns}: ${line}`);
    }
  }
});

test('cuts nothing in pipes and files, and on a terminal of unknown width', () => {
  const whole = new Table({}).format(WIDE);
  assert.match(whole, /A very long name of a product {2}Kitchen /);
  for (const output of [{ columns: 20 }, { isTTY: true }, { isTTY: true, columns: 0 }]) {
    assert.equal(new Table(output).format(WIDE), whole);
  }
});

/** Texts, and how many cells of a terminal each takes. */
const CELLS: readonly [text: string, cells: number][] = [
  ['mug', 3], ['杯', 2], ['マグ', 4], ['ﾏｸﾞ', 3], ['머그', 4], ['\u1106\u1165\u1100\u1173', 4],
  ['ＡＢ', 4], ['é', 1], ['e\u0301', 1], ['\u0301', 0], ['☕', 2], ['👍🏽', 2], ['🇩🇪', 2], ['❤️', 2],
  ['©', 1], ['क्ष', 2], ['—', 1], ['\u{20000}', 2], ['。', 2], ['€', 1],
];

test('measures text in the cells of a terminal', () => {
  for (const [text, cells] of CELLS) {
    const [, line] = lines(new Table({}, ['12345678', 'x']).format([{ 12345678: text, x: 1 }]));
    assert.equal(line, `${text}${' '.repeat(8 - cells)}  1`);
  }
});

test('never cuts through a character of several code points', () => {
  const [, line] = lines(new Table(terminal(7), ['text', 'x'])
    .format([{ text: '🇩🇪🇩🇪🇩🇪', x: 1 }]));
  assert.equal(line, '🇩🇪…   1');
  const [, accents] = lines(new Table(terminal(7), ['text', 'x'])
    .format([{ text: 'e\u0301'.repeat(6), x: 1 }]));
  assert.equal(accents, `${'e\u0301'.repeat(3)}…  1`);
});

test('prints no control character, also of a name', () => {
  const text = new Table({}).format([{ 'a\u001b[2J': 'b\u0007\u202e', c: { 'd\r': 'e\n' } }]);
  assert.doesNotMatch(text, /[\u001b\u0007\u202e\r]/);
  assert.equal(lines(text).length, 2);
  assert.equal(formatMembers({ metadata: { 'a\u001b': '\u009b' } }), 'metadata.a\ufffd  \ufffd');
});

/** The disk model: which unsynced data may be lost, and which data may not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeRandom } from '../../domain/random.ts';
import { drawLosses, NO_LOSS } from './crash-states.ts';
import { Disk, type Losses, type Tree } from './disk-model.ts';
import type { FileCall } from './operation.ts';

const OLD = Buffer.alloc(8192, 'o');
const INITIAL: Tree = new Map([['/r/old', OLD], ['/r/sub', undefined]]);
const MODELS = ['ordered', 'strict'] as const;

/** Each call takes a nanosecond, and another one passes before the next. */
function play(...calls: readonly FileCall[]): { disk: Disk; end: number } {
  const disk = new Disk('/r', INITIAL);
  calls.forEach((call, index) => disk.apply({ ...call, begin: 2 * index, end: 2 * index + 1 }));
  return { disk, end: 2 * calls.length };
}

/** All distinct states that 600 crashes leave, by `describe`. */
function listOutcomes(
  { disk, end }: { disk: Disk; end: number }, model: Losses['model'],
  describe: (tree: Tree) => string,
): string[] {
  const random = makeRandom(1);
  const found = new Set<string>();
  for (let count = 0; count < 600; count += 1) {
    found.add(describe(disk.crash(end, drawLosses(random, { at: end, model }))));
  }
  return [...found].sort();
}

const open = (path: string): FileCall => ({ kind: 'open', path, isTruncating: false });
const sync = (path: string): FileCall => ({ kind: 'sync', path });
const write = (path: string, offset: number, text: string): FileCall =>
  ({ kind: 'write', path, offset, data: Buffer.from(text) });
const names = (tree: Tree): string => [...tree.keys()].sort().join(' ').replaceAll('/r/', '');
const read = (path: string) => (tree: Tree): string => String(tree.get(path));

test('keeps what existed before, and loses nothing if nothing was done', () => {
  for (const model of MODELS) assert.deepEqual(listOutcomes(play(), model, names), ['old sub']);
});

test('may lose a write until the file is synced, and not after that', () => {
  for (const model of MODELS) {
    const written = write('/r/old', 0, 'n'.repeat(8192));
    const first = (tree: Tree): string => read('/r/old')(tree).charAt(0);
    assert.deepEqual(listOutcomes(play(written), model, first), ['n', 'o']);
    assert.deepEqual(listOutcomes(play(written, sync('/r/old')), model, first), ['n']);
    const other = play(written, sync('/r'));
    assert.deepEqual(listOutcomes(other, model, first), ['n', 'o'], 'a folder is not its files');
  }
});

test('tears a write between sectors, and never within one', () => {
  const torn = listOutcomes(play(write('/r/old', 0, 'n'.repeat(8192))), 'strict', (tree) => {
    const sectors = read('/r/old')(tree).match(/.{512}/g) ?? [];
    for (const sector of sectors) assert.match(sector, /^(?:n{512}|o{512})$/);
    return sectors.map((sector) => sector.charAt(0)).join('');
  });
  assert.ok(torn.includes('o'.repeat(8) + 'n'.repeat(8)), 'a later page without the one before');
  assert.ok(torn.some((sectors) => /on+o/.test(sectors.slice(0, 8))), 'a part of a page');
});

test('never keeps the second of two writes to one sector without the first', () => {
  const twice = play(write('/r/old', 0, '1'), write('/r/old', 1, '2'));
  const outcomes = listOutcomes(twice, 'strict', (tree) => read('/r/old')(tree).slice(0, 2));
  assert.deepEqual(outcomes, ['12', '1o', 'oo']);
});

test('does not count a write as synced that had not returned when fsync was called', () => {
  const disk = new Disk('/r', INITIAL);
  disk.apply({ ...write('/r/old', 0, 'n'), begin: 0, end: 5 });
  disk.apply({ ...sync('/r/old'), begin: 4, end: 6 });
  const first = (tree: Tree): string => read('/r/old')(tree).charAt(0);
  assert.deepEqual(listOutcomes({ disk, end: 9 }, 'strict', first), ['n', 'o']);
});

test('does not count an fsync that had not returned', () => {
  const { disk } = play(write('/r/old', 0, 'n'), sync('/r/old'));
  const first = (tree: Tree): string => read('/r/old')(tree).charAt(0);
  assert.deepEqual(listOutcomes({ disk, end: 2.5 }, 'ordered', first), ['n', 'o']);
  assert.deepEqual(listOutcomes({ disk, end: 3 }, 'ordered', first), ['n']);
});

test('strict: may lose the name of a file that is synced, until its folder is', () => {
  const made = [open('/r/new'), write('/r/new', 0, 'x'), sync('/r/new')];
  assert.deepEqual(listOutcomes(play(...made), 'strict', names), ['new old sub', 'old sub']);
  assert.deepEqual(listOutcomes(play(...made, sync('/r')), 'strict', names), ['new old sub']);
});

test('ordered: an fsync of a file makes its name safe, and all earlier names', () => {
  const before = open('/r/before');
  const made = [open('/r/new'), write('/r/new', 0, 'x'), sync('/r/new')];
  assert.deepEqual(listOutcomes(play(before, ...made), 'ordered', names), ['before new old sub']);
  const late = listOutcomes(play(...made, before), 'ordered', names);
  assert.deepEqual(late, ['before new old sub', 'new old sub']);
});

test('ordered: keeps names in their order; strict: loses any of them', () => {
  const moved = play(
    { kind: 'link', from: '/r/old', to: '/r/kept' }, open('/r/new'),
    { kind: 'rename', from: '/r/new', to: '/r/old' },
  );
  const isOld = (tree: Tree): string =>
    `${names(tree)} ${read('/r/old')(tree) === String(OLD) ? 'old' : 'new'}`;
  assert.deepEqual(listOutcomes(moved, 'ordered', isOld), [
    'kept new old sub old', 'kept old sub new', 'kept old sub old', 'old sub old',
  ]);
  const lost = listOutcomes(moved, 'strict', isOld);
  assert.ok(lost.includes('old sub new'), 'the link is lost, and the renaming is not');
});

test('loses all files in a folder whose name is lost', () => {
  const made = [
    { kind: 'mkdir', path: '/r/made' } as const, open('/r/made/file'), sync('/r/made/file'),
    sync('/r/made'),
  ];
  const lost = listOutcomes(play(...made), 'strict', names);
  assert.deepEqual(lost, ['made made/file old sub', 'old sub']);
  const safe = listOutcomes(play(...made, sync('/r')), 'strict', names);
  assert.deepEqual(safe, ['made made/file old sub']);
});

test('may bring a removed file back until its folder is synced', () => {
  const removed = { kind: 'unlink', path: '/r/old' } as const;
  for (const model of MODELS) {
    assert.deepEqual(listOutcomes(play(removed), model, names), ['old sub', 'sub']);
    assert.deepEqual(listOutcomes(play(removed, sync('/r')), model, names), ['sub']);
  }
});

test('may lose a truncation as it may lose bytes', () => {
  const cut = { kind: 'truncate', path: '/r/old', size: 10 } as const;
  const size = (tree: Tree): string => String(tree.get('/r/old')?.length);
  for (const model of MODELS) {
    assert.deepEqual(listOutcomes(play(cut), model, size), ['10', '8192']);
    assert.deepEqual(listOutcomes(play(cut, sync('/r/old')), model, size), ['10']);
  }
});

test('without losses it has the state that the running system saw', () => {
  const { disk, end } = play(open('/r/new'), write('/r/new', 3, 'x'), write('/r/old', 8192, 'y'));
  const tree = disk.crash(end, NO_LOSS);
  assert.deepEqual(tree.get('/r/new'), Buffer.from('\0\0\0x'));
  assert.equal(tree.get('/r/old')?.length, 8193);
});

test('rejects a recording that does not say where a file comes from', () => {
  assert.throws(() => play(write('/r/unknown', 0, 'x')), /does not say how \/r\/unknown/);
});

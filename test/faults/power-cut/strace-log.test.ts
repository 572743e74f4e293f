/** The reader of strace's log, on lines as strace 6 writes them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { makeFolder } from '../../support/folder.ts';
import type { Operation } from './operation.ts';
import { readStraceLog } from './strace-log.ts';

const hex = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

/** Reads these lines, each a microsecond after the one before; `%...%` stands for hexadecimal. */
async function readLines(t: TestContext, ...lines: readonly string[]): Promise<Operation[]> {
  const log = join(makeFolder(t), 'log');
  const texts = lines.map((line, index) => {
    const [thread, ...rest] = line.split(' ');
    const call = rest.join(' ').replaceAll(/%([^%]*)%/g, (_, text: string) => hex(text));
    return `${thread} 1700000000.00000${index}000 ${call}`;
  });
  writeFileSync(log, `${texts.join('\n')}\n`);
  return readStraceLog(log, (path) => path.startsWith('/r/'));
}

test('reads what changes the recorded folder, and nothing else', async (t) => {
  const found = await readLines(t,
    '1 openat(AT_FDCWD<%/%>, "%/r/a%", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = 5<%/r/a%> <0.000000100>',
    '1 openat(AT_FDCWD<%/%>, "%/r/a%", O_RDONLY) = 6<%/r/a%> <0.000000100>',
    '1 pwrite64(5<%/r/a%>, "%abc%", 3, 8192) = 3 <0.000000100>',
    '1 ftruncate(5<%/r/a%>, 10) = 0 <0.000000100>',
    '1 fdatasync(5<%/r/a%>) = 0 <0.000000100>',
    '1 rename("%/r/a%", "%/r/b%") = 0 <0.000000100>',
    '1 unlink("%/r/b%") = 0 <0.000000100>',
    '1 unlink("%/elsewhere%") = 0 <0.000000100>',
    '1 unlink("%/r/none%") = -1 ENOENT (No such file or directory) <0.000000100>',
  );
  assert.deepEqual(found.map(({ begin: _begin, end: _end, ...call }) => call), [
    { kind: 'open', path: '/r/a', isTruncating: false },
    { kind: 'write', path: '/r/a', offset: 8192, data: Buffer.from('abc') },
    { kind: 'truncate', path: '/r/a', size: 10 }, { kind: 'sync', path: '/r/a' },
    { kind: 'rename', from: '/r/a', to: '/r/b' }, { kind: 'unlink', path: '/r/b' },
  ]);
});

test('joins the parts of a call that another thread interrupts', async (t) => {
  const [sync] = await readLines(t,
    '1 fsync(5<%/r/a%> <unfinished ...>',
    '2 fsync(9<%/elsewhere%>) = 0 <0.000000100>',
    '1 <... fsync resumed>) = 0 <0.000002500>',
  );
  assert.equal(sync?.kind, 'sync');
  assert.equal(sync.end - sync.begin, 2500);
});

test('tracks the file offset of write, and of writev with several buffers', async (t) => {
  const found = await readLines(t,
    '1 openat(AT_FDCWD<%/%>, "%/r/a%", O_WRONLY|O_CREAT, 0600) = 5<%/r/a%> <0.000000100>',
    '1 write(5<%/r/a%>, "%abc%", 3) = 3 <0.000000100>',
    '1 writev(5<%/r/a%>, [{iov_base="%de%", iov_len=2}, {iov_base="%f%", iov_len=1}], 2) = 3 '
      + '<0.000000100>',
  );
  const writes = found.filter((one) => one.kind === 'write');
  assert.deepEqual(writes.map(({ offset, data }) => [offset, String(data)]), [
    [0, 'abc'], [3, 'def'],
  ]);
});

test('appends to files that are new and empty, and rejects other appends', async (t) => {
  const open = (flags: string): string =>
    `1 openat(AT_FDCWD<%/%>, "%/r/a%", ${flags}) = 5<%/r/a%> <0.000000100>`;
  const [create, append] = [open('O_WRONLY|O_CREAT|O_EXCL, 0600'), open('O_WRONLY|O_APPEND')];
  const write = '1 write(5<%/r/a%>, "%abc%", 3) = 3 <0.000000100>';
  const operations = await readLines(t, create, append, write, write);
  assert.deepEqual(
    operations.flatMap((one) => (one.kind === 'write' ? one.offset : [])), [0, 3],
  );
  await assert.rejects(readLines(t, append), /does not know how to open/);
  await assert.rejects(readLines(t, create, write, append), /does not know how to open/);
});

test('reads what is sent to sockets and pipes', async (t) => {
  const found = await readLines(t,
    '1 write(24<TCP:[127.0.0.1:80->127.0.0.1:50478]>, "%HTTP/1.1 200%", 12) = 12 <0.000000100>',
    '1 write(1<%pipe:[15057]%>, "%done%", 4) = 4 <0.000000100>',
    '1 write(20<%anon_inode:[eventfd]%>, "%x%", 1) = 1 <0.000000100>',
  );
  const sent = found.filter((one) => one.kind === 'sent');
  assert.deepEqual(sent.map(({ fd, peer, data }) => [fd, peer, String(data)]), [
    [24, 'TCP:[127.0.0.1:80->127.0.0.1:50478]', 'HTTP/1.1 200'], [1, 'pipe:', 'done'],
  ]);
});

test('rejects unknown calls that concern the recorded folder', async (t) => {
  const call = 'fallocate(5<%PATH%>, 0, 0, 4096) = 0 <0.000000100>';
  assert.deepEqual(await readLines(t, `1 ${call.replace('PATH', '/elsewhere')}`), []);
  const inside = `1 ${call.replace('PATH', '/r/a')}`;
  await assert.rejects(readLines(t, inside), /does not know the call fallocate/);
  const cut = '1 pwrite64(5<%/r/a%>, "%abc%"..., 9, 0) = 9 <0.000000100>';
  await assert.rejects(readLines(t, cut), /has cut a string/);
});

/** Temporary files: their content, permissions and removal. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { TemporaryFile } from '../../../src/store/temporary/temporary-file.ts';
import { makeFolder } from '../../support/folder.ts';

const OPEN_FILES = '/proc/self/fd';
const FULL_DISK = '/dev/full';

async function readAll(file: TemporaryFile): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(file.read()));
}

test('reads from the beginning each time, up to what was written', async (t) => {
  const file = await TemporaryFile.create(makeFolder(t));
  t.after(() => file.close());
  assert.equal((await readAll(file)).length, 0);
  const large = Buffer.alloc(150_000, 'é');
  await file.append(large);
  const reading = file.read();
  const first = (await reading.next()).value ?? Buffer.of();
  await file.append(Buffer.from('end'));
  assert.ok((await readAll(file)).equals(Buffer.concat([large, Buffer.from('end')])));
  assert.equal(file.sizeBytes, 150_003);
  const rest = Buffer.concat(await Array.fromAsync(reading));
  assert.ok(Buffer.concat([first, rest]).equals(await readAll(file)));
});

test('has no name in its folder, and the folder is private to its owner', async (t) => {
  const folder = join(makeFolder(t), 'new', 'uploads');
  const file = await TemporaryFile.create(folder);
  await file.append(Buffer.from('secret'));
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  await file.close();
  await file.close(); // closing twice is harmless
  await assert.rejects(readAll(file));
});

test('releases its disk space', { skip: !existsSync(OPEN_FILES) }, async (t) => {
  const folder = makeFolder(t);
  const countOpen = () => readdirSync(OPEN_FILES).filter((name) => {
    try {
      return readlinkSync(join(OPEN_FILES, name)).startsWith(folder);
    } catch {
      return false; // the descriptor of the listing itself
    }
  }).length;
  const file = await TemporaryFile.create(folder);
  assert.equal(countOpen(), 1);
  await file.close();
  assert.equal(countOpen(), 0);
});

test('reports a full disk', { skip: !existsSync(FULL_DISK) }, async (t) => {
  const file = new TemporaryFile(await open(FULL_DISK, 'r+'));
  t.after(() => file.close());
  await assert.rejects(file.append(Buffer.from('x')), {
    name: 'AppError', code: 'storage_full', message: /server's disk is full/,
  });
  assert.equal(file.sizeBytes, 0);
});

test('stores a stream, up to a limit', async (t) => {
  const chunks = () => ReadableStream.from([Buffer.from('12345'), Buffer.from('67890')]);
  const file = await TemporaryFile.spool(chunks(), 10, 'Cut it.');
  t.after(() => file.close());
  assert.equal((await readAll(file)).toString(), '1234567890');
  assert.equal((await file.readAt(7, 10)).toString(), '890');
  await assert.rejects(TemporaryFile.spool(chunks(), 9, 'Cut it.'), {
    code: 'body_too_large', message: /^The file has more than .* MiB\. Cut it\.$/,
  });
});

test('passes other errors on', async (t) => {
  const inFile = join(makeFolder(t), 'file');
  await (await open(inFile, 'w')).close();
  await assert.rejects(TemporaryFile.create(inFile), { code: 'ENOTDIR' });
});

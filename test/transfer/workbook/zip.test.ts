/** Zip files: which are read, and which are rejected as damaged, ambiguous or too large. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { WORKBOOK_DIRECTORY_LIMIT_BYTES } from '../../../src/transfer/workbook/limits.ts';
import { openZip } from '../../../src/transfer/workbook/zip.ts';
import { fileOf, makeZip, type ZipPart } from './make-workbook.ts';

const TEXT = 'sheet '.repeat(50_000);

async function readPart(zip: Buffer, name: string, limitBytes?: number): Promise<string> {
  const archive = await openZip(fileOf(zip));
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive.read(name, limitBytes)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function assertRejected(zip: Buffer, fault: RegExp, limitBytes?: number): Promise<void> {
  await assert.rejects(readPart(zip, 'a', limitBytes), (error: Error) => {
    assert.equal(error.name, 'AppError');
    assert.match(error.message, fault);
    assert.match(error.message, /save (?:it as \.xlsx|the sheet as "CSV UTF-8")/);
    return true;
  });
}

const one = (part: Partial<ZipPart> = {}): ZipPart => ({ name: 'a', content: TEXT, ...part });

test('reads deflated and stored entries of any size, with ZIP64 fields, and with a comment',
  async () => {
    const parts = [one(), one({ name: 'b', isStored: true }), one({ name: 'c', content: '' }),
      one({ name: 'd', content: '', isStored: true }), one({ name: 'E\\é.xml', isZip64: true })];
    const names = ['a', 'b', 'c', 'd', '/e/É.XML'];
    for (const options of [{}, { comment: 'PK\x05\x06 a comment' }]) {
      const zip = makeZip(parts, options);
      for (const [index, name] of names.entries()) {
        assert.equal(await readPart(zip, name), parts[index]?.content, name);
      }
    }
  });

test('rejects a file that is cut anywhere', async () => {
  const zip = makeZip([one({ content: 'short' })]);
  for (let length = 0; length < zip.length; length += 1) {
    await assertRejected(zip.subarray(0, length), /incomplete|directory/);
  }
});

test('rejects a wrong checksum and a wrong size', async () => {
  await assertRejected(makeZip([one({ checksum: 1 })]), /wrong size or checksum/);
  for (const sizeBytes of [0, TEXT.length - 1, TEXT.length + 1]) {
    await assertRejected(makeZip([one({ sizeBytes })]), /wrong size or checksum/);
    await assertRejected(makeZip([one({ sizeBytes, isStored: true })]), /wrong size or checksum/);
  }
});

test('rejects compressed data that is invalid, cut, or followed by other data', async () => {
  await assertRejected(makeZip([one({ isStored: true, method: 8 })]), /compressed data is invalid/);
  const cut = makeZip([one({ content: Buffer.from([0x4b]), isStored: true, method: 8 })]);
  await assertRejected(cut, /compressed data is invalid/);
  await assertRejected(makeZip([one({ suffix: Buffer.from('x') })]), /data follows a part/);
});

test('rejects encrypted entries, and compression methods other than deflate', async () => {
  for (const flags of [1, 0x40, 0x2000]) {
    await assertRejected(makeZip([one({ flags })]), /a is encrypted/);
  }
  await assertRejected(makeZip([one({ method: 12 })]), /encrypted, or not compressed by deflate/);
  assert.equal(await readPart(makeZip([one({ flags: 0x808 })]), 'a'), TEXT);
});

test('rejects names that are there twice, or differ from the directory', async () => {
  await assertRejected(makeZip([one(), one({ name: 'A' })]), /a part twice/);
  await assertRejected(makeZip([one(), one({ name: '/a' })]), /a part twice/);
  for (const localName of ['b', 'ab', '']) {
    await assertRejected(makeZip([one({ localName })]), /differs from the directory/);
  }
  await assertRejected(makeZip([one({ name: 'b' })]), /a is missing/);
});

test('rejects a directory that has other entries than it says', async () => {
  for (const count of [0, 2]) await assertRejected(makeZip([one()], { count }), /its directory/);
  const zip = makeZip([one()]);
  const header = zip.lastIndexOf('PK\x01\x02', 'latin1');
  for (const [at, value] of [[0, 0], [28, 60_000], [30, 60_000], [32, 60_000]] as const) {
    const wrong = Buffer.from(zip);
    wrong.writeUInt16LE(value, header + at);
    await assertRejected(wrong, /its directory/);
  }
});

test('rejects ZIP64 sizes that are missing', async () => {
  const zip = makeZip([one({ isZip64: true })]);
  zip.writeUInt16LE(2, zip.lastIndexOf('a\x55\x54', 'latin1') + 7); // another field
  await assertRejected(zip, /too large: a has 4294967295 bytes/);
  await assertRejected(makeZip([one()], { isZip64: true }), /too large/);
});

test('rejects too long a directory, and what would expand too much', async () => {
  const names = Array.from({ length: 1 + WORKBOOK_DIRECTORY_LIMIT_BYTES / 60_000 }, (_, index) =>
    ({ name: String(index).padEnd(60_000), content: '', isStored: true }));
  await assertRejected(makeZip(names), /too large: it has 70 parts/);
  await assertRejected(makeZip([one()]), /too large: a has 300000 bytes/, TEXT.length - 1);
  assert.equal(await readPart(makeZip([one()]), 'a', TEXT.length), TEXT);
});

test('stops reading when its caller does', async () => {
  let reads = 0;
  const content = randomBytes(4 * 1024 * 1024);
  for (const isStored of [true, false]) {
    const file = fileOf(makeZip([one({ content, isStored })]));
    const archive = await openZip({
      ...file, readAt(...range) {
        reads += 1;
        return file.readAt(...range);
      },
    });
    for await (const _ of archive.read('a')) break;
  }
  assert.ok(reads < 20, String(reads));
});

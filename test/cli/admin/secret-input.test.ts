/** Secrets typed at a terminal or read from a pipe. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { SECRET_INPUT_LIMIT_BYTES } from '../../../src/cli/limits.ts';
import { readSecret } from '../../../src/cli/admin/secret-input.ts';

const LABELS = ['The password', 'The password again'];

/** Sends key strokes as a terminal does, each line when it is prompted for. */
async function typeLines(...lines: readonly string[]): Promise<string> {
  const modes: boolean[] = [];
  const terminal = Object.assign(new PassThrough(), {
    isTTY: true, setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  });
  const waiting = [...lines];
  try {
    return await readSecret(terminal, LABELS, (text) => {
      assert.match(text, /^The password(?: again)? \(not shown\):$/);
      setImmediate(() => terminal.write(waiting.shift() ?? ''));
    });
  } finally {
    assert.deepEqual(modes, [true, false], 'the echo is off while typing, and on again afterwards');
  }
}

function pipe(...chunks: readonly (string | Buffer)[]): Promise<string> {
  const source = new PassThrough();
  for (const chunk of chunks) source.write(chunk);
  source.end();
  return readSecret(source, LABELS, () => assert.fail('prompted'));
}

test('prompts twice at a terminal, without echo', async () => {
  assert.equal(await typeLines('grün Boot 7\r', 'grün Boot 7\r'), 'grün Boot 7');
  const differ = typeLines('green boats\r', 'green boots\r');
  await assert.rejects(differ, { name: 'CommandFailure', message: /differ/ });
});

test('stops at a terminal on Ctrl-C and Ctrl-D', async () => {
  for (const key of ['\x03', '\x04']) {
    await assert.rejects(typeLines('green boats\r', key), { message: /^Cancelled/ });
    await assert.rejects(typeLines(key), { message: /^Cancelled/ });
  }
});

test('reads the first line of piped input, up to a limit', async () => {
  assert.equal(await pipe('green ', 'boats\r\nother'), 'green boats');
  assert.equal(await pipe('green boats'), 'green boats');
  assert.equal(await pipe(), '');
  const utf16 = Buffer.from('\uFEFFgrüne boats\r\nother', 'utf16le');
  assert.equal(await pipe(utf16.subarray(0, 9), utf16.subarray(9)), 'grüne boats');
  assert.equal(await pipe('\uFEFFgreen boats\n'), 'green boats');
  const endless = new PassThrough();
  endless.write('x'.repeat(SECRET_INPUT_LIMIT_BYTES + 1));
  const read = await readSecret(endless, LABELS, () => {});
  assert.ok(read.length > SECRET_INPUT_LIMIT_BYTES);
});

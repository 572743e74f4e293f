/** A secret that is typed at a terminal, or handed over by another program. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { SECRET_INPUT_LIMIT_CHARACTERS } from '../../../src/cli/limits.ts';
import { readSecret } from '../../../src/cli/admin/secret-input.ts';

/** Keys as a terminal sends them, each line once it is asked for. */
async function typeLines(...lines: readonly string[]): Promise<string> {
  const modes: boolean[] = [];
  const terminal = Object.assign(new PassThrough(), {
    isTTY: true, setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  });
  const waiting = [...lines];
  try {
    return await readSecret(terminal, 'The password', (text) => {
      assert.match(text, /^The password(?: once more)? \(it is not shown\):$/);
      setImmediate(() => terminal.write(waiting.shift() ?? ''));
    });
  } finally {
    assert.deepEqual(modes, [true, false], 'nothing is shown meanwhile, and all is after it');
  }
}

function handOver(...chunks: readonly string[]): Promise<string> {
  const source = new PassThrough();
  for (const chunk of chunks) source.write(chunk);
  source.end();
  return readSecret(source, 'The password', () => assert.fail('nobody is asked'));
}

test('asks twice at a terminal, which does not show what is typed', async () => {
  assert.equal(await typeLines('grün Boot 7\r', 'grün Boot 7\r'), 'grün Boot 7');
  const differ = typeLines('green boats\r', 'green boots\r');
  await assert.rejects(differ, { name: 'CommandFailure', message: /differ/ });
});

test('gives up at a terminal on Ctrl-C and Ctrl-D', async () => {
  for (const key of ['\x03', '\x04']) {
    await assert.rejects(typeLines('green boats\r', key), { message: /^Cancelled/ });
    await assert.rejects(typeLines(key), { message: /^Cancelled/ });
  }
});

test('takes the first line of what is handed over, and no more than a limit', async () => {
  assert.equal(await handOver('green ', 'boats\r\nother'), 'green boats');
  assert.equal(await handOver('green boats'), 'green boats');
  assert.equal(await handOver(), '');
  const endless = new PassThrough();
  endless.write('x'.repeat(SECRET_INPUT_LIMIT_CHARACTERS + 1));
  const read = await readSecret(endless, 'The password', () => {});
  assert.ok(read.length > SECRET_INPUT_LIMIT_CHARACTERS);
});

/** Multipart forms: every part as sent, however the bytes arrive, and malformed forms. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { FORM_PART_HEAD_LIMIT_BYTES, FORM_PARTS_LIMIT } from '../../../src/http/limits.ts';
import { LingeringConnections } from '../../../src/http/server/lingering-close.ts';
import {
  type FormPart, openForm, readField, readForm,
} from '../../../src/http/request/multipart.ts';
import { createProblem } from '../../../src/http/response/problem.ts';
import { sendReply } from '../../../src/http/response/reply.ts';
import { makeRandom, type Random } from '../../domain/random.ts';
import { send } from '../../support/http.ts';
import { open, readUntil, serve } from '../raw.ts';

interface Part {
  readonly name: string;
  readonly fileName?: string | undefined;
  readonly bytes: Buffer;
}

function write(parts: readonly Part[], boundary: string): Buffer {
  const pieces = parts.flatMap(({ name, fileName, bytes }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`;
    const type = fileName === undefined ? '' : 'Content-Type: text/csv\r\n';
    const head = `Content-Disposition: form-data; name="${name}"${file}\r\n${type}`;
    return [Buffer.from(`--${boundary}\r\n${head}\r\n`), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

/** A form whose only part has these headers. */
function withHead(...lines: readonly string[]): string {
  return ['--b', ...lines, '', 'content', '--b--'].join('\r\n');
}

async function* chunksOf(...chunks: readonly (string | Buffer)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function readAll(parts: AsyncIterable<FormPart>): Promise<Part[]> {
  const read: Part[] = [];
  for await (const { name, fileName, content } of parts) {
    read.push({ name, fileName, bytes: await readBytes(content) });
  }
  return read;
}

async function readBytes(content: FormPart['content']): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(content));
}

describe('a form', () => {
  test('has the same parts, however it is cut into chunks', async (t) => {
    const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 32));
    t.diagnostic(`TEST_SEED=${seed} repeats this run`);
    const random = makeRandom(seed);
    for (let run = 0; run < 400; run += 1) {
      const { parts, boundary } = makeForm(random);
      const chunks = cut(write(parts, boundary), random);
      assert.deepEqual(await readAll(readForm(chunksOf(...chunks), boundary)), parts);
    }
  });

  test('has the same parts if it is cut at any byte, also within a boundary', async () => {
    const bytes = write([{ name: 'a', bytes: Buffer.from('one') }, { name: 'b', fileName: 'f',
      bytes: Buffer.from('\r\n--\r\n--bo\r\n') }], 'bound');
    const whole = await readAll(readForm(chunksOf(bytes), 'bound'));
    assert.equal(whole.length, 2);
    for (let at = 0; at <= bytes.length; at += 1) {
      const chunks = chunksOf(bytes.subarray(0, at), bytes.subarray(at));
      assert.deepEqual(await readAll(readForm(chunks, 'bound')), whole, `cut at ${at}`);
    }
  });

  test('may have a preamble, an epilogue, and white space after boundaries',
    async () => {
      const head = 'Content-Disposition: form-data; name=a';
      const body = `For old readers\r\n--b \t\r\n${head}\r\n\r\none\r\n--b--\r\nand after`;
      const parts = await readAll(readForm(chunksOf(body), 'b'));
      assert.deepEqual(parts, [{ name: 'a', fileName: undefined, bytes: Buffer.from('one') }]);
    });

  test('without a field has no parts', async () => {
    assert.deepEqual(await readAll(readForm(chunksOf('--b--'), 'b')), []);
  });

  test('skips the unread rest of a part', async () => {
    const parts = [1, 2, 3].map((n) => ({ name: `${n}`, bytes: Buffer.alloc(200_000, `${n}`) }));
    const body = write(parts, 'b');
    const chunks = chunksOf(body.subarray(0, 70_000), body.subarray(70_000));
    const seen: string[] = [];
    for await (const { name, content } of readForm(chunks, 'b')) {
      if (name === '1') for await (const piece of content) { seen.push(String(piece[0])); break; }
      if (name === '3') seen.push(String((await readBytes(content)).length));
    }
    assert.deepEqual(seen, ['49', '200000']);
  });

  test('reads no more of a body than requested', async () => {
    let given = 0;
    let isReturned = false;
    async function* give() {
      try {
        yield Buffer.from('--b\r\nContent-Disposition: form-data; name="f"\r\n\r\n');
        for (;; given += 1) yield Buffer.alloc(1_000);
      } finally {
        isReturned = true;
      }
    }
    for await (const { content } of readForm(give(), 'b')) {
      for await (const _ of content) if (given >= 3) break;
      break;
    }
    assert.equal(given, 3);
    assert.ok(isReturned, 'the rest of the body was left open');
  });
});

describe('the name of a part or a file', () => {
  for (const [kind, disposition, name, fileName] of [
    ['in UTF-8', 'name="größe"; filename="Überblick 🧾.csv"', 'größe', 'Überblick 🧾.csv'],
    ['with quotes as browsers escape them', 'name="a%22b"; filename="x%22%0D%0Ay%41.csv"', 'a"b',
      'x"\r\ny%41.csv'],
    ['with quotes as other clients escape them', 'name="a\\"b"; filename="x\\\\y; z=1.csv"', 'a"b',
      'x\\y; z=1.csv'],
    ['that is a path', 'name="f"; filename="C:\\shop\\a.csv"', 'f', 'C:\\shop\\a.csv'],
    ['without quotes', 'NAME=f ; filename=a.csv', 'f', 'a.csv'],
    ['beside filename*, which is ignored', `name="f"; filename*=UTF-8''b; filename="a"`, 'f', 'a'],
    ['that is empty, if no file was chosen', 'name="f"; filename=""', 'f', ''],
  ] as const) {
    test(kind, async () => {
      const head = `content-disposition: Form-Data; ${disposition}`;
      const body = withHead('Content-Type: text/csv', head, 'Content-Length: 7');
      const [part] = await readAll(readForm(chunksOf(body), 'b'));
      assert.deepEqual(part, { name, fileName, bytes: Buffer.from('content') });
    });
  }
});

describe('rejects malformed forms:', () => {
  const fine = 'Content-Disposition: form-data; name="a"';
  const many = Array.from({ length: FORM_PARTS_LIMIT + 1 }, () => ({
    name: 'a', bytes: Buffer.from('x'),
  }));
  const long = 'x'.repeat(FORM_PART_HEAD_LIMIT_BYTES + 1);
  for (const [kind, body, detail] of [
    ['nothing', '', /was cut off/],
    ['no boundary', 'name,sku\r\n', /was cut off/],
    ['a long preamble', long.repeat(2), /exceeds 4 KiB/],
    ['no end', withHead(fine).slice(0, -2), /was cut off: its last boundary/],
    ['an end within part headers', `--b\r\n${fine}\r\n`, /was cut off/],
    ['another boundary with the same prefix', `--bb\r\n${fine}\r\n\r\n\r\n--b--`, /same line/],
    ['a part without headers', '--b\r\n\r\ncontent\r\n--b--', /no field "Content-Disposition/],
    ['a part of another kind', withHead('Content-Disposition: attachment; name="a"'), /no field/],
    ['a part without a name', withHead('Content-Disposition: form-data'), /is malformed/],
    ['an unterminated name', withHead('Content-Disposition: form-data; name="a'), /malformed/],
    ['a name with text after it', withHead(`${fine} b`), /is malformed/],
    ['a long line', withHead(`${fine}; x=${long}`), /exceeds 4 KiB/],
    ['many lines', withHead(...Array.from({ length: 500 }, () => 'A: 123456789')), /4 KiB/],
    ['very many parts', write(many, 'b'), /more than 100 fields/],
  ] as const) {
    test(kind, async () => {
      const read = readAll(readForm(chunksOf(body), 'b'));
      await assert.rejects(read, { name: 'AppError', code: 'invalid_data', message: detail });
    });
  }
});

describe('a text field is rejected', () => {
  const read = async (bytes: Buffer): Promise<string> => {
    for await (const part of readForm(chunksOf(write([{ name: 'q', bytes }], 'b')), 'b')) {
      return readField(part, 4);
    }
    return '';
  };

  test('over its limit', async () => {
    assert.equal(await read(Buffer.from('1234')), '1234');
    await assert.rejects(read(Buffer.from('12345')), {
      code: 'body_too_large', message: 'The field "q" of the form may have at most 4 bytes.',
    });
  });

  test('if it is not UTF-8', async () => {
    await assert.rejects(read(Buffer.from([0xe9])), { code: 'invalid_data', message: /UTF-8/ });
  });
});

describe('a request with a form', () => {
  test('is read from its socket', async (t) => {
    const parts = [{ name: 'one', bytes: Buffer.from('1') },
      { name: 'file', fileName: 'a.csv', bytes: Buffer.alloc(1_000_000, 'é') }];
    const answer = await post(await serveForms(t), 'multipart/form-data; boundary="b \'()"',
      write(parts, "b '()"));
    assert.deepEqual(answer.json(), [['one', 1], ['file', 1_000_000]]);
  });

  for (const [kind, type, detail] of [
    ['another type', 'application/x-www-form-urlencoded', /multipart\/form-data/],
    ['no boundary', 'multipart/form-data', /boundary/],
    ['an empty boundary', 'multipart/form-data; boundary=""', /boundary/],
    ['a long boundary', `multipart/form-data; boundary=${'b'.repeat(71)}`, /1 to 70 characters/],
  ] as const) {
    test(`is rejected if it has ${kind}`, async (t) => {
      const { status, json } = await post(await serveForms(t), type, Buffer.from('--b--'));
      assert.equal(status, 415);
      assert.match(json().detail, detail);
    });
  }

  test('gets a response if it is rejected before its end', async (t) => {
    const socket = await open(t, await serveForms(t));
    const head = 'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000';
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n--b\r\n\r\n`);
    assert.match(await readUntil(socket, '}'), /^HTTP\/1\.1 400 .*Content-Disposition/s);
    socket.write('x'.repeat(90_000 - 7));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(await readUntil(socket, '}'), /^HTTP\/1\.1 415 /);
  });
});

/** Responds with the names and lengths of the parts. */
function serveForms(t: TestContext): Promise<number> {
  const lingering = new LingeringConnections();
  return serve(t, async (request, response) => {
    const reply = await Promise.try(() => readAll(openForm(request))).then((parts) => ({
      status: 200, headers: {},
      body: JSON.stringify(parts.map(({ name, bytes }) => [name, bytes.length])),
    }), (error: unknown) => createProblem(error, () => {}));
    lingering.lingerAfter(response, reply);
    void sendReply(response, reply);
  });
}

function post(port: number, type: string, body: Buffer) {
  return send(port, { method: 'POST', path: '/', headers: { 'content-type': type }, body });
}

/** Parts whose bytes are mostly near matches of the boundary. */
function makeForm(random: Random): { parts: Part[]; boundary: string } {
  const boundary = '-'.repeat(random.below(5)) + 'b'.repeat(1 + random.below(4));
  const pieces = ['\r', '\n', '\r\n', '-', '--', `\r\n--${boundary.slice(1)}x`, `--${boundary}`,
    `\n--${boundary}--`, '\r\n-', 'é', 'name,sku'];
  const parts = Array.from({ length: random.below(4) }, (_, index): Part => {
    const text = Array.from({ length: random.below(30) }, () => random.pick(pieces)).join('');
    // A part cannot contain this text; removing it may produce it again.
    const [before = ''] = `${text}\r\n`.split(`\r\n--${boundary}`);
    const bytes = Buffer.from(before === `${text}\r\n` ? text : before);
    return { name: `part ${index}`, fileName: random.pick([undefined, 'a.csv']), bytes };
  });
  return { parts, boundary };
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const chunks: Buffer[] = [];
  const most = random.pick([1, 3, 20, 200]);
  for (let at = 0; at < bytes.length;) {
    const end = at + random.below(most + 1);
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}

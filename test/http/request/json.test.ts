/** I-JSON (RFC 7493): stricter than JSON.parse, and equal to it for the accepted texts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../../src/domain/error.ts';
import { parseJson } from '../../../src/http/request/json.ts';
import { forRandom, type Random } from '../../domain/random.ts';
import { catchAppError } from '../../domain/validation-errors.ts';

const parseText = (text: string): unknown => parseJson(Buffer.from(text));

describe('accepts', () => {
  const texts = [
    '{}', '[]', 'null', 'true', '0', '-0', '1.5e3', '""', ' \t\r\n{ } ', '{"a":1,"A":2,"":3}',
    '{"a":{"a":{"a":1}},"b":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":[],"b":{}}',
    '[null,[null],{"a":null}]',
    '{":":"::","{":"}{[]["}', '{"ab":"\\"","a":2}', '{"a":"\\\\"}', '"[[[[[[[[[[[["',
    '{"a":":\\\\\\""}',
    '"\\ud83d\\ude00 😀 \\u0000"', '{"__proto__":{"__proto__":1},"constructor":2}', '1e308',
    '5e-324', '1e2', '[0.1,12.50,1.0,-0.0,1E+2]', '9007199254740991', '0.30000000000000004',
    '"1e-400"', '{"1e-400":"0.9999999999999999999999"}', `"${'\\"'.repeat(10_000)}"`,
    `"${'\\\\'.repeat(10_000)}"`,
  ];
  for (const text of texts) {
    test(text.slice(0, 60), () => assert.deepEqual(parseText(text), JSON.parse(text)));
  }

  test('__proto__ as an ordinary member', () => {
    const value = parseText('{"__proto__":{"a":1}}') as object;
    assert.ok(Object.hasOwn(value, '__proto__'));
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  });
});

describe('rejects', () => {
  const texts = [
    ' ', '{', '}', '[', ']', '{]', '[}', '{"a":1}}', '{"a":1}x', '{"a":1}{}', '{} {}', '{"a":1,}',
    '[1,]',
    '[,1]', '{"a"}', '{"a":}', '{:1}', '{a:1}', "{'a':1}", '{"a":1 "b":2}', ':', '::', '{"a"::1}',
    ',',
    '"', '"a', '"\\"', '"\\', '"\n"', '"\t"', '"\\x"', '"\\u12"', '01', '+1', '.5', '1.', '1e',
    '0x10', '-',
    'NaN', 'Infinity', 'undefined', 'nul', '// a\n1', '{}/**/', '\u00a0{}', '\ufeff{}', '{}\0',
    '\0',
  ];
  for (const text of texts) {
    test(JSON.stringify(text), () => {
      assert.equal(catchAppError(() => parseText(text)).code, 'invalid_json');
    });
  }

  test('an empty body, and says that it is empty', () => {
    const refusal = catchAppError(() => parseText(''));
    assert.equal(refusal.code, 'invalid_json');
    assert.match(refusal.publicDetail, /empty/);
  });

  for (const [kind, bytes] of [
    ['a byte that is never UTF-8', [0x22, 0xff, 0x22]],
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['a truncated sequence', [0x22, 0xe2, 0x82, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a code point past U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
  ] as const) {
    test(kind, () => {
      assert.equal(catchAppError(() => parseJson(Buffer.from(bytes))).code, 'invalid_json');
    });
  }

  const inexact: readonly (readonly [text: string, pointer: string, code: string])[] = [
    ['1e400', '', 'range'], ['-1e400', '', 'range'], ['[0,1e400]', '/1', 'range'],
    ['{"a/b":{"~":[-1e309]}}', '/a~1b/~0/0', 'range'], [`${'9'.repeat(400)}`, '', 'range'],
    ['{"price":1e309}', '/price', 'range'],
    ['0.9999999999999999999999', '', 'precision'], ['[1e-400]', '/0', 'precision'],
    ['{"sku":"1e-400","\\u0070rice":1e-400}', '/price', 'precision'],
    ['{"a":[{"b":1},[ 1.5 , {"c/d" : 1.00000000000000001 }],2]}', '/a/1/1/c~1d', 'precision'],
    ['[[1,2],9007199254740993]', '/1', 'precision'], ['{"a":{},"b":-5e-325}', '/b', 'precision'],
  ];
  for (const [text, pointer, fault] of inexact) {
    test(`a number that a double cannot represent: ${text.slice(0, 60)}`, () => {
      const { code, issues } = catchAppError(() => parseText(text));
      assert.deepEqual([code, ...issues.map((issue) => [issue.pointer, issue.code])], [
        'invalid_json', [pointer, fault],
      ]);
    });
  }

  test('a number that a double cannot represent only after all other checks', () => {
    assert.deepEqual(catchAppError(() => parseText('[1e-400')).issues, []);
    const { issues } = catchAppError(() => parseText('[1e-400,{"a":1,"a":1}]'));
    assert.deepEqual(issues.map(({ pointer, code }) => [pointer, code]), [['/1/a', 'duplicate']]);
  });
});

describe('depth', () => {
  for (const [before, after] of [['[', ']'], ['{"a":', '}']] as const) {
    const nest = (depth: number): string => before.repeat(depth) + '1' + after.repeat(depth);

    test(`of 8 levels of ${before} is accepted, of 9 rejected`, () => {
      assert.deepEqual(parseText(nest(8)), JSON.parse(nest(8)));
      const refusal = catchAppError(() => parseText(nest(9)));
      assert.equal(refusal.code, 'invalid_json');
      assert.match(refusal.publicDetail, /8 levels/);
    });

    test(`of 30,000 levels of ${before} is rejected without a stack overflow`, () => {
      assert.match(catchAppError(() => parseText(before.repeat(30_000))).publicDetail, /8 levels/);
    });
  }

  test('counts open brackets, not all brackets', () => {
    const text = `[${Array.from({ length: 50 }, () => '[[{"a":[[]]}]]').join()}]`;
    assert.deepEqual(parseText(text), JSON.parse(text));
  });
});

describe('rejects a duplicate member, and points to it:', () => {
  const cases: readonly (readonly [text: string, pointer: string])[] = [
    ['{"a":1,"a":1}', '/a'], ['{"a":1,"b":2,"a":3}', '/a'], ['{"ab":1,"\\u0061b":2}', '/ab'],
    ['{"\\u0061b":1,"ab":2}', '/ab'], ['{"a\\/":1,"a/":2}', '/a~1'],
    ['{"\\u0061":1,"a":2}', '/a'], ['{"a":1,"\\u0061":2}', '/a'],
    ['{"~a":1,"\\u007ea":2}', '/~0a'], ['{"":1,"":2}', '/'], ['{"x":{"a":1,"a":2}}', '/x/a'],
    ['[0,{"a":1},{"a":1,"a":2}]', '/2/a'], ['{"x":[[],[{"y":{"a":1,"a":2}}]]}', '/x/1/0/y/a'],
    ['{"a":{"b":1},"a":{"c":1}}', '/a'], ['{"a":{},"a":[]}', '/a'], ['{"x":1,"a":":","a":1}', '/a'],
    ['{"x":"a","a":"x","b":{"x":1},"x":2}', '/x'], ['{ "a" : 1 ,\n"a"\t: 2 }', '/a'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'], ['{"1":1,"1":2}', '/1'],
    ['{"éa":1,"\\u00e9a":2}', '/éa'],
    ['{"😀":1,"\\ud83d\\ude00":2}', '/😀'], ['{"x":[1,"]",{"a":"}"},2,{"a":0,"a":0}]}', '/x/4/a'],
    [`{"${'long\\u0061'.repeat(10_000)}":1,"b":1,"b":1}`, '/b'],
  ];
  for (const [text, pointer] of cases) {
    test(text.slice(0, 60), () => {
      const { code, issues } = catchAppError(() => parseText(text));
      assert.deepEqual([code, ...issues.map((issue) => [issue.pointer, issue.code])], [
        'invalid_json', [pointer, 'duplicate'],
      ]);
    });
  }
});

test('reads an escaped name correctly, whatever V8 has parsed before', () => {
  // nodejs/node#63785: V8 would mistake the second name for the one that it saw after "b".
  JSON.parse('{"b":0,"\\\\":1}');
  assert.deepEqual(parseText('{"b":1,"\\u0061":2}'), { b: 1, a: 2 });
});

test('rejects a name with quotes, backslashes or control characters', () => {
  for (const text of ['{"a\\"":1}', '[{"x":{"\\\\" :1}}]', '{"\\u000a":1}', '{"\\ud800":1}']) {
    const refusal = catchAppError(() => parseText(text));
    assert.equal(refusal.code, 'invalid_json');
    assert.match(refusal.publicDetail, /is not accepted/);
  }
  const taken = '{"name":"\\u0062","list":["\\n","\\\\"]}';
  assert.deepEqual(parseText(taken), { name: 'b', list: ['\n', '\\'] });
});

describe('random texts', () => {
  test('without duplicates are read as JSON.parse reads them', () => {
    forRandom(3_000, (random) => {
      const text = writeValue(random, 8, false);
      assert.deepEqual(parseText(text), JSON.parse(text), text);
    });
  });

  test('with a duplicate anywhere are rejected', () => {
    forRandom(1_500, (random) => {
      const inner = writeObject(random, random.below(4), true);
      const text = wrap(random, inner, random.below(5));
      assert.equal(catchAppError(() => parseText(text)).issues[0]?.code, 'duplicate', text);
    });
  });

  test('that are corrupted are rejected whenever JSON.parse rejects them', () => {
    forRandom(6_000, (random) => {
      const text = damage(random, writeValue(random, 4, false));
      const expected = settle(() => JSON.parse(text));
      const actual = settle(() => parseText(text));
      if ('error' in actual) {
        assert.ok(actual.error instanceof AppError, text);
        assert.equal(actual.error.code, 'invalid_json');
      } else {
        assert.deepEqual(actual, expected, text);
      }
    });
  });
});

function settle(run: () => unknown): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}

const SPACES = ['', '', '', ' ', '\n', '\t', '\r\n'];
const SCALARS = ['null', 'true', 'false', '0', '-0', '12.50', '1e3', '-7E-2', '123456789012345680'];
const CHARACTERS = [
  'a', 'b', '0', ' ', ':', ',', '{', '}', '[', ']', '/', '~', '\\"', '\\\\', '\\/', '\\n',
  '\\u0061',
  '\\u0022', '\\ud83d\\ude00', 'é', '😀', '\u2028',
];

function writeString(random: Random): string {
  return `"${Array.from({ length: random.below(6) }, () => random.pick(CHARACTERS)).join('')}"`;
}

/** A value with at most `depth` levels of arrays and objects. */
function writeValue(random: Random, depth: number, withDuplicate: boolean): string {
  const kind = depth === 0 ? random.below(2) : random.below(6);
  if (kind === 0) return random.pick(SCALARS);
  if (kind === 1) return writeString(random);
  if (kind < 4) return writeObject(random, depth - 1, withDuplicate);
  const items = Array.from({ length: random.below(4) }, () => writeValue(random, depth - 1, false));
  return `[${items.join(`${random.pick(SPACES)},${random.pick(SPACES)}`)}${random.pick(SPACES)}]`;
}

function writeObject(random: Random, depth: number, withDuplicate: boolean): string {
  const names = new Map<string, string>(); // by name, the spelling in the text
  for (let count = random.below(4) + Number(withDuplicate); count > 0; count -= 1) {
    const name = writeName(random);
    names.set(JSON.parse(name) as string, name);
  }
  const written = [...names.values()];
  if (withDuplicate) {
    const again = JSON.parse(random.pick(written)) as string;
    const spelled = [...again].map((character) => escape(random, character)).join('');
    written.splice(random.below(written.length + 1), 0, `"${spelled}"`);
  }
  const space = (): string => random.pick(SPACES);
  const members = written.map((name) =>
    `${space()}${name}${space()}:${space()}${writeValue(random, depth, false)}${space()}`);
  return `{${members.join(',')}}`;
}

/** A name that needs no escape: others are rejected, since V8 confuses some of them. */
function writeName(random: Random): string {
  const name = JSON.stringify(JSON.parse(writeString(random)));
  return name.includes('\\') ? '"ab"' : name;
}

/** One of the spellings of a character in a JSON string. */
function escape(random: Random, character: string): string {
  if (random.below(2) === 0) return JSON.stringify(character).slice(1, -1);
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

function wrap(random: Random, text: string, levels: number): string {
  if (levels === 0) return text;
  const inner = wrap(random, text, levels - 1);
  const before = writeValue(random, 1, false);
  return random.below(2) === 0 ? `[${before},${inner}]` : `{"p":${before},"q":${inner}}`;
}

const DAMAGES = ['', '', '"', '\\', ':', ',', '{', '}', '[', ']', '0', ' ', 'a', '\n', '-', 'e'];

function damage(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const put = random.pick(DAMAGES);
  // Well-formed, since a lone surrogate cannot be encoded.
  return (text.slice(0, at) + put + text.slice(at + random.below(3))).toWellFormed();
}

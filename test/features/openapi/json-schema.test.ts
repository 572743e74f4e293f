/** The JSON Schema validator on which the tests of the OpenAPI document rely. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSchemaErrors } from './json-schema.ts';

const LINES = { contentMediaType: 'application/x-ndjson', contentSchema: { type: 'integer' } };

const DISCRIMINATED = {
  discriminator: { propertyName: 'kind', mapping: { a: '#/place/A', b: '#/place/B' } },
};
const PLACE = {
  'a/b': { type: 'null' },
  A: { type: 'object', properties: { kind: {}, a: {} } },
  B: { type: 'object', properties: { kind: {} } },
};

test('accepts values that match a keyword, and rejects others', () => {
  for (const [schema, fitting, others] of [
    [{ type: 'integer' }, [0, -1, 1e20], [0.5, '1', null, true, [], {}]],
    [{ type: ['string', 'null'] }, ['', null], [0, undefined, {}]],
    [{ type: 'object' }, [{}, { a: 1 }], [[], null, 'a']],
    [{ type: 'array', items: { type: 'number' } }, [[], [1, 2.5]], [{}, [1, 'a'], [null]]],
    [{ type: 'boolean' }, [true, false], [0, 'true']],
    [{ enum: ['a', 1] }, ['a', 1], ['b', '1', ['a']]],
    [{ const: 'a' }, ['a'], ['b', null]],
    [{ minimum: 1, maximum: 3 }, [1, 2.5, 3, 'text'], [0.9, 3.1]],
    [{ exclusiveMaximum: 3 }, [2.99, -1], [3, 4]],
    [{ minLength: 2, maxLength: 2 }, ['ab', '😀é', 7], ['a', 'abc', '😀', '😀😀😀']],
    [{ pattern: '^a+$' }, ['a', 'aaa', 1], ['', 'ab', 'ba']],
    [{ format: 'date-time' }, ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05+01:00'],
      ['2026-01-02', '2026-13-02T03:04:05Z', 'now']],
    [{ format: 'uri-reference' }, ['/a?b', 'x'], ['http://[']],
    [{ minItems: 1, maxItems: 2 }, [[1], [1, 2], 'a'], [[], [1, 2, 3]]],
    [{ required: ['a'] }, [{ a: undefined }, { a: 1, b: 2 }, 'a'], [{}, { b: 1 }]],
    [{ properties: { a: { type: 'null' } } }, [{}, { a: null }, 1], [{ a: 1 }, { b: null }]],
    [{ properties: {}, additionalProperties: { type: 'null' } }, [{}, { a: null }], [{ a: 1 }]],
    [{ propertyNames: { maxLength: 1 } }, [{}, { a: 1 }], [{ ab: 1 }]],
    [{ anyOf: [{ type: 'null' }, { minimum: 2 }] }, [null, 2, 'a'], [1]],
    [{ oneOf: [{ type: 'null' }, { type: 'integer' }, { type: 'number' }] }, [null, 0.5], [1, 'a']],
    [DISCRIMINATED, [{ kind: 'a', a: 1 }, { kind: 'b' }, 'a'],
      [{ kind: 'b', a: 1 }, { kind: 'c' }]],
    [LINES, ['', '1\n', '1\n2\n'], ['1', '1\n"a"\n', '0.5\n']],
    [{ $ref: '#/place/a~1b' }, [null], [1]],
  ] as const) {
    const document = { place: PLACE };
    for (const value of fitting) assert.deepEqual(findSchemaErrors(value, schema, document), []);
    for (const value of others) {
      const text = `${JSON.stringify(value)} passes ${JSON.stringify(schema)}`;
      assert.notDeepEqual(findSchemaErrors(value, schema, document), [], text);
    }
  }
});

test('names the place of each error by its JSON Pointer', () => {
  const schema = {
    properties: { list: { items: { properties: { a: { type: 'string' } } } } },
  };
  const errors = findSchemaErrors({ list: [{ a: 'b' }, { a: 1, b: 1 }], c: 1 }, schema, {});
  assert.deepEqual(errors.sort(), [
    '/c is not described', '/list/1/a is not string', '/list/1/b is not described',
  ]);
});

test('throws on unsupported schemas', () => {
  for (const schema of [
    { multipleOf: 2 }, { type: 'float' }, { format: 'email' }, { $ref: 'other.json' },
    { $ref: '#/nothing' }, true, undefined, { contentMediaType: 'a/b', contentSchema: {} },
  ]) {
    assert.throws(() => findSchemaErrors('text', schema, {}), JSON.stringify(schema));
  }
});

/** Decoding of forms as browsers send them, and errors by field. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { Form, fieldErrorsFrom, readForm } from '../../../../src/features/portal/forms/form.ts';
import { FORM_FIELDS_LIMIT, FORM_LIMIT_BYTES } from '../../../../src/features/portal/limits.ts';

function makeRequest(
  body: string, type = 'application/x-www-form-urlencoded',
): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-type': type };
  request.push(body);
  request.push(null);
  return request;
}

test('reads fields as a browser encodes them', async () => {
  const form = await readForm(makeRequest('a=1+2&b=%C3%A9%26&c=&d=%20x%20&a=3&e'));
  assert.equal(form.get('a'), '1 2');
  assert.deepEqual(form.getAll('a'), ['1 2', '3']);
  assert.equal(form.get('b'), 'é&');
  assert.deepEqual([form.get('c'), form.has('c')], ['', true]);
  assert.deepEqual([form.get('d'), form.getTrimmed('d')], [' x ', 'x']);
  assert.deepEqual([form.get('e'), form.has('e')], ['', true]);
  assert.deepEqual([form.get('f'), form.getAll('f'), form.has('f')], ['', [], false]);
});

test('accepts a charset parameter, and no other media type', async () => {
  const type = 'application/x-www-form-urlencoded; charset=UTF-8';
  assert.equal((await readForm(makeRequest('a=1', type))).get('a'), '1');
  for (const other of ['', 'text/plain', 'multipart/form-data; boundary=x', 'application/json']) {
    const read = readForm(makeRequest('a=1', other));
    await assert.rejects(read, { code: 'unsupported_media_type' }, other);
  }
});

test('limits the number of fields and the size', async () => {
  const most = new URLSearchParams(Array.from({ length: FORM_FIELDS_LIMIT }, () => ['a', '1']));
  assert.equal((await readForm(makeRequest(String(most)))).getAll('a').length, FORM_FIELDS_LIMIT);
  await assert.rejects(readForm(makeRequest(`${most}&a=1`)), { code: 'invalid_data' });
  const largest = `a=${'x'.repeat(FORM_LIMIT_BYTES - 2)}`;
  assert.equal((await readForm(makeRequest(largest))).get('a').length, FORM_LIMIT_BYTES - 2);
  await assert.rejects(readForm(makeRequest(`${largest}x`)), { code: 'body_too_large' });
});

test('keeps the first error of each field', () => {
  const errors = fieldErrorsFrom([
    { pointer: '/name', code: 'blank', detail: 'Must not be blank.' },
    { pointer: '/name', code: 'length', detail: 'Too long.' },
    { pointer: '/prices/0/amount', code: 'range', detail: 'Too much.' },
    { code: 'required', detail: 'All of it.' },
  ]);
  assert.deepEqual([...errors], [
    ['name', 'Must not be blank.'], ['prices', 'Too much.'], ['', 'All of it.'],
  ]);
});

test('has no values in an empty form', () => {
  const form = new Form(new URLSearchParams());
  assert.deepEqual([form.get('constructor'), form.has('__proto__')], ['', false]);
});

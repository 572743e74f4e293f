/** The names of files that browsers keep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAttachment } from '../../../src/http/response/attachment.ts';

test('a name is told in ASCII and exactly, and ends no field', () => {
  assert.equal(formatAttachment('products-1.csv'),
    "attachment; filename=\"products-1.csv\"; filename*=UTF-8''products-1.csv");
  assert.equal(formatAttachment('größe "5" (a\'b)*;\r\n%.csv'),
    'attachment; filename="gr__e _5_ _a_b______.csv"; filename*=UTF-8\'\''
    + 'gr%C3%B6%C3%9Fe%20%225%22%20%28a%27b%29%2A%3B%0D%0A%25.csv');
  assert.match(formatAttachment('\ud800.csv'), /%EF%BF%BD\.csv$/);
});

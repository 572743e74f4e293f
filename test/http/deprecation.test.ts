/** The fields that announce the end of a route (RFC 9745, RFC 8594). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLifecycleFields } from '../../src/http/deprecation.ts';

test('says since when a route is deprecated, in seconds since 1970', () => {
  const fields = formatLifecycleFields({ deprecatedAt: '2026-01-02T03:04:05.678+01:00' });
  assert.deepEqual(fields, { deprecation: '@1767319445' });
});

test('says until when it works, and where to read more', () => {
  const fields = formatLifecycleFields({
    deprecatedAt: '1970-01-01T00:00:00Z', sunsetAt: '2027-03-04T05:06:07Z',
    link: 'https://shop.example/changes',
  });
  assert.deepEqual(fields, {
    deprecation: '@0',
    sunset: 'Thu, 04 Mar 2027 05:06:07 GMT',
    link: '<https://shop.example/changes>; rel="deprecation"',
  });
});

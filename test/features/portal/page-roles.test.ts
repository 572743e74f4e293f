/** The least role that each page and form of the portal requires. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routes } from '../../../src/features/portal/routes.ts';

/** By role; `public` ones need no account. A new page or form needs its place here. */
const PAGES = {
  'public GET': [
    '/assets/{digest}/{name}', '/join', '/sign-in', '/sign-in/code', '/sign-in/passkey',
    '/sign-in/passkey/options',
  ],
  'public POST': [
    '/join', '/sign-in', '/sign-in/code', '/sign-in/passkey', '/theme',
  ],
  'viewer GET': [
    '/', '/account', '/account/email', '/account/name', '/account/passkeys',
    '/account/passkeys/new', '/account/passkeys/options', '/account/passkeys/{passkey_id}',
    '/account/passkeys/{passkey_id}/remove', '/account/password', '/account/password-sign-in',
    '/account/sessions', '/account/two-factor', '/api', '/api/problems', '/api/{operation}',
    '/categories', '/changes', '/export', '/import', '/imports', '/imports/{import_id}', '/live',
    '/movements', '/movements/export', '/people', '/products', '/products/{id}', '/reports',
    '/reports/{report}', '/search',
  ],
  'viewer POST': [
    '/account', '/account/email', '/account/name', '/account/passkeys', '/account/passkeys/new',
    '/account/passkeys/{passkey_id}', '/account/passkeys/{passkey_id}/remove', '/account/password',
    '/account/password-sign-in', '/account/sessions', '/account/two-factor',
    '/account/two-factor/codes', '/account/two-factor/off', '/sign-out',
  ],
  'editor GET': [
    '/account/shop', '/categories/rename', '/import/{id}', '/import/{id}/rejected',
    '/products/grid', '/products/new', '/products/{id}/delete', '/start', '/start/progress',
  ],
  'editor POST': [
    '/account/shop', '/categories/rename', '/changes/{position}/undo', '/filters',
    '/filters/delete', '/import', '/import/sample', '/import/{id}', '/import/{id}/cancel',
    '/import/{id}/commit', '/import/{id}/discard', '/imports/{import_id}/revert', '/products/grid',
    '/products/new', '/products/selection', '/products/{id}', '/products/{id}/adjust',
    '/products/{id}/archive', '/products/{id}/delete', '/products/{id}/stock', '/start',
  ],
  'owner GET': [
    '/activity', '/keys', '/keys/find', '/keys/new', '/keys/{key_id}', '/keys/{key_id}/revoke',
    '/leaked', '/leaked/{key_id}', '/people/new', '/people/two-factor', '/people/{account_id}',
    '/people/{account_id}/name', '/people/{account_id}/remove', '/people/{account_id}/role',
    '/webhooks', '/webhooks/new', '/webhooks/{webhook_id}', '/webhooks/{webhook_id}/attempts/{n}',
    '/webhooks/{webhook_id}/delete', '/webhooks/{webhook_id}/edit',
  ],
  'owner POST': [
    '/keys/find', '/keys/new', '/keys/{key_id}/revoke', '/keys/{key_id}/rotate', '/leaked',
    '/leaked/{key_id}/replace', '/leaked/{key_id}/revert', '/leaked/{key_id}/revoke',
    '/people/invitations/{invitation}/revoke', '/people/new', '/people/two-factor',
    '/people/{account_id}/name', '/people/{account_id}/remove', '/people/{account_id}/role',
    '/people/{account_id}/sign-out', '/webhooks/new',
    '/webhooks/{webhook_id}/attempts/{n}/resend', '/webhooks/{webhook_id}/delete',
    '/webhooks/{webhook_id}/edit', '/webhooks/{webhook_id}/replay', '/webhooks/{webhook_id}/retry',
    '/webhooks/{webhook_id}/rotate', '/webhooks/{webhook_id}/status', '/webhooks/{webhook_id}/test',
  ],
};

test('has no page or form whose role is not listed here', () => {
  const names = routes.map((route) =>
    [`${route.access === 'public' ? 'public' : route.role} ${route.method}`, route.path]);
  const listed = Object.entries(PAGES).flatMap(([name, paths]) =>
    paths.map((path) => [name, path]));
  assert.deepEqual(names.map(String).sort(), listed.map(String).sort());
});

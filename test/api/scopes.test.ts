/** The scope that each operation of the API requires. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Scope, SCOPES } from '../../src/domain/access/caller.ts';
import { routes } from '../support/routes.ts';
import { startServer } from '../support/server.ts';
import { assertProblem } from './problem.ts';

/** Without the beginning of their paths, `/api/v1`. A new operation needs its line here. */
const OPERATIONS: Readonly<Record<Scope, readonly string[]>> = {
  'products:read': [
    'GET /products', 'GET /products/{id}', 'GET /products/sku/{sku}', 'GET /stock',
    'POST /products/lookup',
  ],
  'products:write': [
    'POST /products', 'PATCH /products/{id}', 'DELETE /products/{id}',
    'PUT /products/sku/{sku}', 'PATCH /products/sku/{sku}', 'DELETE /products/sku/{sku}',
    'POST /products/import', 'POST /reverts',
  ],
  'stock:write': ['POST /stock'],
  'changes:read': [
    'GET /imports', 'GET /imports/{import_id}', 'GET /stock/movements', 'GET /changes',
  ],
  'webhooks:write': [
    'GET /webhooks', 'POST /webhooks', 'GET /webhooks/{webhook_id}',
    'PATCH /webhooks/{webhook_id}', 'DELETE /webhooks/{webhook_id}',
    'GET /webhooks/{webhook_id}/deliveries', 'GET /webhooks/{webhook_id}/deliveries/{n}',
    'POST /webhooks/{webhook_id}/deliveries/{n}/resend', 'POST /webhooks/{webhook_id}/retry',
    'POST /webhooks/{webhook_id}/test', 'POST /webhooks/{webhook_id}/replay',
    'POST /webhooks/{webhook_id}/rotate-secret',
  ],
};
const OPEN = ['GET /healthz', 'GET /readyz', 'GET /openapi.json'];

test('has no operation whose scope is not listed here', () => {
  const listed = [...Object.values(OPERATIONS).flat(), ...OPEN];
  const existing = routes.map(({ method, path }) => `${method} ${path.replace('/api/v1', '')}`);
  assert.deepEqual(existing.toSorted(), listed.toSorted());
});

for (const scope of SCOPES) {
  test(`rejects a key with all scopes but ${scope} where that is required`, async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller({ scopes: SCOPES.filter((other) => other !== scope) });
    for (const operation of OPERATIONS[scope]) {
      const [method = '', path = ''] = operation.split(' ');
      const answer = await seller.send({
        method, path: `/api/v1${path.replaceAll(/\{\w+\}/g, 'none')}`,
      });
      const { detail } = assertProblem(answer, 403, 'scope-missing');
      assert.match(detail, new RegExp(scope), operation);
    }
  });
}

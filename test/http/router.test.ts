/** Finds the route for a method and a path. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Router } from '../../src/http/router.ts';
import { catchAppError } from '../domain/validation-errors.ts';

const router = new Router([
  { method: 'GET', path: '/things', name: 'list' },
  { method: 'POST', path: '/things', name: 'create' },
  { method: 'GET', path: '/things/special', name: 'special' },
  { method: 'GET', path: '/things/{id}', name: 'read' },
  { method: 'DELETE', path: '/things/{id}', name: 'delete' },
  { method: 'POST', path: '/things/{id}/parts/{part}', name: 'add part' },
  { method: 'POST', path: '/orders', name: 'order' },
]);

describe('finds', () => {
  type Case = readonly [method: string, path: string, name: string, parameters: object];
  const cases: readonly Case[] = [
    ['GET', '/things', 'list', {}],
    ['POST', '/things', 'create', {}],
    ['GET', '/things/7', 'read', { id: '7' }],
    ['DELETE', '/things/7', 'delete', { id: '7' }],
    ['HEAD', '/things', 'list', {}],
    ['HEAD', '/things/7', 'read', { id: '7' }],
    ['GET', '/things/special', 'special', {}],
    ['POST', '/things/7/parts/x', 'add part', { id: '7', part: 'x' }],
    ['GET', '/things/a%20b%2Fc%25', 'read', { id: 'a b/c%' }],
    ['GET', '/things/%F0%9F%98%80', 'read', { id: '😀' }],
    ['GET', '/things/a+b', 'read', { id: 'a+b' }],
    ['GET', '/things/{id}', 'read', { id: '{id}' }],
    ['GET', '/things/__proto__', 'read', { id: '__proto__' }],
  ];
  for (const [method, path, name, parameters] of cases) {
    test(`${name} for ${method} ${path}`, () => {
      const match = router.find(method, path);
      assert.equal(match.route.name, name);
      assert.deepEqual({ ...match.parameters }, parameters);
    });
  }
});

describe('finds nothing at', () => {
  const paths = [
    '', '/', '//', 'things', '/thing', '/Things', '/things/', '//things', '/things//parts/x',
    '/things/7/',
    '/things/7/parts', '/things/7/parts/', '/things/7/parts/x/y', '/other/7', '/things/7/pieces/x',
    '/things/%', '/things/%ZZ', '/things/%FF', '/things/%C3', '/things/%ED%A0%80',
    '/things/7/parts/%',
    '/__proto__', '/constructor',
  ];
  for (const path of paths) {
    test(JSON.stringify(path), () => {
      for (const method of ['GET', 'POST', 'PATCH']) {
        assert.equal(catchAppError(() => router.find(method, path)).code, 'not_found', method);
      }
    });
  }
});

describe('rejects, and lists the allowed methods:', () => {
  const cases: readonly (readonly [method: string, path: string, allow: string[]])[] = [
    ['PUT', '/things', ['GET', 'HEAD', 'POST']],
    ['PATCH', '/things/7', ['DELETE', 'GET', 'HEAD']],
    ['GET', '/things/7/parts/x', ['POST']],
    ['HEAD', '/orders', ['POST']],
    ['OPTIONS', '/orders', ['POST']],
    ['get', '/things', ['GET', 'HEAD', 'POST']],
    ['', '/orders', ['POST']],
    ['POST', '/things/special', ['GET', 'HEAD']],
  ];
  for (const [method, path, allow] of cases) {
    test(`${method} ${path}`, () => {
      const refusal = catchAppError(() => router.find(method, path));
      assert.equal(refusal.code, 'method_not_allowed');
      assert.deepEqual(refusal.allow, allow);
    });
  }
});

/** Invariants of every response, whatever the request. */
import assert from 'node:assert/strict';
import { routes } from '../support/routes.ts';
import { Router } from '../../src/http/router.ts';
import { isObject } from '../features/openapi/json-schema.ts';
import { assertDescribed } from '../features/openapi/openapi-document.ts';
import type { Answer } from '../support/http.ts';
import type { Case } from './case.ts';
import { SPLIT_FIELD } from './values.ts';
import type { World } from './world.ts';

const MARKUP = /<img src=x onerror=fuzz|<script>fuzz/i;
/** Minimum length of a helpful error message. */
const DETAIL_CHARACTERS = 15;

const router = new Router(routes);

/** @throws AssertionError that names the broken invariant */
export function assertResponse(one: Case, answer: Answer, world: World): void {
  const { status, headers, text } = answer;
  const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
  assert.equal(headers[SPLIT_FIELD], undefined, 'the request injected a response header');
  assertOwn(answer, world);
  // The HTTP server itself answers before it gives up a connection, without the API's headers.
  const isRaw = status >= 400 && headers['cache-control'] === undefined;
  if (status >= 500) {
    assert.equal(status, 503, `the status ${status}`);
    assert.match(headers['retry-after'] ?? '', /^\d+$/, 'a 503 that does not say when to retry');
  }
  if (type === 'text/html') assertPage(answer);
  else if (status >= 400 && one.method !== 'HEAD') assertProblem(answer, type);
  if (status === 401) assert.ok(headers['www-authenticate'], 'a 401 without a challenge');
  if (status === 405) assert.ok(headers.allow, 'a 405 without the supported methods');
  if (status >= 300 && status < 400 && status !== 304) {
    assert.match(headers.location ?? '', /^\/portal/, 'redirects outside the portal');
    assert.doesNotMatch(headers.location ?? '', /^\/\//, 'redirects to another host');
  }
  if (one.operation && !isRaw && isOfRoute(one) && text.length < 500_000) {
    assertDescribed(world.document, one.method, one.operation.path, answer);
  }
}

/** Asserts that the response has no data of the other seller. */
function assertOwn({ headers, text }: Answer, { silent }: World): void {
  const shown = JSON.stringify(headers) + text;
  for (const mark of silent.marks) {
    assert.ok(!shown.toLowerCase().includes(mark.toLowerCase()), `another seller's: ${mark}`);
  }
}

function assertProblem({ status, text, json }: Answer, type: string): void {
  assert.equal(type, 'application/problem+json', `rejected with ${status} as ${type}: ${text}`);
  const problem: unknown = json();
  assert.ok(isObject(problem));
  const { type: name, title, detail, status: bodyStatus } = problem;
  assert.equal(bodyStatus, status, 'a problem with another status');
  assert.ok(typeof name === 'string' && /^urn:problem-type:[\w:-]+$/.test(name), `type ${name}`);
  assert.ok(typeof title === 'string' && title !== '', 'a problem without a title');
  assert.ok(typeof detail === 'string' && detail.length > DETAIL_CHARACTERS, `detail: ${detail}`);
}

function assertPage({ status, headers, text }: Answer): void {
  assert.doesNotMatch(text, MARKUP, "the request's unescaped markup in a page");
  assert.match(String(headers['content-security-policy']), /default-src 'none'/, 'no policy');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  if (status < 400 || text === '') return;
  assert.match(text, /<\/html>\s*$/, 'a truncated page');
  assert.match(text, /<h1/, 'an error page without a heading');
}

/** Whether the request reached the intended route: corrupted names may match another one. */
function isOfRoute({ operation, method, bytes }: Case): boolean {
  const [, target = ''] = bytes.toString('latin1', 0, bytes.indexOf('\r\n')).split(' ');
  try {
    return router.find(method, target.split('?')[0] ?? '').route.path === operation?.path;
  } catch {
    return false; // no route matches
  }
}

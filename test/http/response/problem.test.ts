/** Errors as RFC 9457 problem details. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { AppError, type ErrorCode } from '../../../src/domain/error.ts';
import {
  createProblem, type ErrorReport, safeErrorReporter,
} from '../../../src/http/response/problem.ts';

const STATUS: Readonly<Record<ErrorCode, number>> = {
  bad_request: 400, expectation_failed: 417,
  invalid_json: 400, invalid_data: 400, invalid_query: 400,
  key_missing: 401, key_malformed: 401, key_unknown: 401, key_expired: 401, address_refused: 401,
  browser_refused: 403, scope_missing: 403, not_found: 404, method_not_allowed: 405,
  not_acceptable: 406, request_timeout: 408, sku_taken: 409, limit_reached: 409, sync_refused: 409,
  external_id_taken: 409, seller_enabled: 409,
  history_pruned: 410, precondition_failed: 412, body_too_large: 413, unsupported_media_type: 415,
  idempotency_mismatch: 422, write_rejected: 422,
  rate_limited: 429, internal: 500, unavailable: 503, storage_full: 507,
};
const RETRY_AFTER: Partial<Record<ErrorCode, string>> = { unavailable: '5', storage_full: '5' };

function answer(error: unknown) {
  const reports: ErrorReport[] = [];
  const { status, headers, body = '' } = createProblem(error, (entry) => reports.push(entry));
  const text = String(body);
  // The cast: each test asserts the members that it reads.
  return { status, headers, text, problem: JSON.parse(text) as Record<string, unknown>, reports };
}

// The cast: the keys of a record of that type.
for (const code of Object.keys(STATUS) as ErrorCode[]) {
  const status = STATUS[code];
  test(`maps ${code} to status ${status}`, () => {
    const error = new AppError(code, 'What is wrong.');
    const { status: actual, headers, problem, reports } = answer(error);
    assert.equal(actual, status);
    assert.equal(problem['status'], status);
    const type = `urn:problem-type:seller-product-api:${code.replaceAll('_', '-')}`;
    assert.equal(problem['type'], type);
    assert.match(String(problem['title']), /^\w.{5,}/);
    assert.equal(headers['content-type'], 'application/problem+json');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal('errors' in problem, false);
    assert.equal('allow' in headers, false);
    assert.equal(headers['retry-after'], RETRY_AFTER[code]);
    assert.equal(
      headers['www-authenticate'],
      status === 401 ? `ApiKey realm="x-api-key", error="${code}"` : undefined,
    );
    const isLast = ['bad_request', 'request_timeout', 'expectation_failed'].includes(code);
    assert.equal(headers['connection'], isLast ? 'close' : undefined);
    if (code !== 'internal') assert.equal(problem['detail'], 'What is wrong.');
    // A limit that works as intended is not logged.
    assert.equal(reports.length, code === 'internal' ? 1 : 0);
    assert.equal(problem['instance'], reports[0] && `urn:uuid:${reports[0].id}`);
  });
}

test('reports the cause of a disk or database error, with an id', () => {
  for (const code of ['unavailable', 'storage_full'] as const) {
    const error = new AppError(code, 'Not now.', { cause: 'SQLITE_IOERR secret' });
    const { problem, reports, text } = answer(error);
    assert.deepEqual(reports.map((report) => report.error), [error]);
    assert.equal(problem['instance'], `urn:uuid:${reports[0]?.id}`);
    assert.doesNotMatch(text, /secret/);
  }
});

test('has a distinct title for every code', () => {
  // The cast: the keys of a record of that type.
  const codes = Object.keys(STATUS) as ErrorCode[];
  const titles = codes.map((code) => answer(new AppError(code, '')).problem['title']);
  assert.equal(new Set(titles).size, codes.length);
});

describe('a bug in the server', () => {
  const inside = new Error('inner secret', { cause: new Error('deeper secret') });
  const errors: readonly (readonly [kind: string, error: unknown])[] = [
    ['an Error', new Error('secret text', { cause: inside })],
    ['a TypeError', new TypeError('secret text')],
    ['an AppError of the code internal', new AppError('internal', 'secret text', {
      cause: inside, retryAfterSeconds: 77, allow: ['SECRET'],
      issues: [{ pointer: '/secret', code: 'type', detail: 'secret' }],
    })],
    ['a string', 'secret text'], ['an object', { secret: 'text' }], ['null', null],
    ['undefined', undefined],
  ];
  for (const [kind, error] of errors) {
    test(`returns 500 with an id, and nothing of the cause: ${kind}`, () => {
      const { status, headers, text, problem, reports } = answer(error);
      assert.equal(status, 500);
      assert.doesNotMatch(text + JSON.stringify(headers), /secret/i);
      assert.equal(headers['retry-after'], undefined);
      assert.equal(reports.length, 1);
      assert.equal(reports[0]?.error, error);
      assert.match(String(reports[0]?.id), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.equal(problem['instance'], `urn:uuid:${reports[0]?.id}`);
    });
  }

  test('has another id each time', () => {
    const ids = Array.from({ length: 20 }, () => answer(new Error('x')).problem['instance']);
    assert.equal(new Set(ids).size, 20);
  });
});

test('keeps the cause of a known failure out of the response', () => {
  const cause = new Error('ENOSPC: /secret/path');
  const { text, reports } = answer(new AppError('storage_full', 'The disk is full.', { cause }));
  assert.doesNotMatch(text, /secret|ENOSPC/);
  // The cast: it is the AppError that was passed in.
  assert.equal((reports[0]?.error as Error).cause, cause);
});

test('lists the validation errors unchanged', () => {
  const issues = [
    { pointer: '/a~1b', code: 'unknown', detail: 'No.' },
    { parameter: 'limit', code: 'range', detail: '"' },
  ] as const;
  const { problem, status } = answer(new AppError('invalid_data', 'Bad.', { issues }));
  assert.equal(status, 400);
  assert.deepEqual(problem['errors'], issues);
});

test('states what is allowed, and when to retry', () => {
  const error = new AppError('method_not_allowed', 'No.', { allow: ['GET', 'HEAD'] });
  assert.equal(answer(error).headers['allow'], 'GET, HEAD');
  const later = new AppError('rate_limited', 'Later.', { retryAfterSeconds: 9 });
  assert.equal(answer(later).headers['retry-after'], '9');
  const unavailable = new AppError('unavailable', 'Later.', { retryAfterSeconds: 1 });
  assert.equal(answer(unavailable).headers['retry-after'], '1');
});

describe('the error log', () => {
  function readLog(t: TestContext, error: unknown): Record<string, string> {
    const log = t.mock.method(console, 'error', () => {});
    safeErrorReporter(undefined)({ id: 'one', error });
    return JSON.parse(String(log.mock.calls[0]?.arguments[0]));
  }

  test('has the stack of a bug', (t) => {
    const { error = '' } = readLog(t, new TypeError('x is null'));
    assert.match(error, /TypeError: x is null\n +at/);
  });

  test('has the causes of a database or disk error, each once and on one line', (t) => {
    const refused = new Error('connect ECONNREFUSED');
    const cause = new Error('connection failed', { cause: new Error('connection failed', {
      cause: refused,
    }) });
    const { error, id } = readLog(t, new AppError('unavailable', 'Try again soon.', { cause }));
    assert.equal(error, 'Try again soon. Cause: connection failed Cause: connect ECONNREFUSED');
    assert.equal(id, 'one');
  });
});

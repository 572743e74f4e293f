/** Assertions on problem documents (RFC 9457), and on responses that must be equal. */
import assert from 'node:assert/strict';
import type { Answer } from '../support/http.ts';

export interface Problem {
  readonly title: string;
  readonly detail: string;
  readonly instance?: string;
}

/** Asserts the status and type of a problem, and what every problem has in common. */
export function assertProblem(answer: Answer, status: number, kind: string): Problem {
  assert.equal(answer.status, status, answer.text);
  const { headers } = answer;
  assert.equal(headers['content-type'], 'application/problem+json');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['www-authenticate'] !== undefined, status === 401);
  const problem = answer.json();
  assert.equal(problem.type, `urn:problem-type:seller-product-api:${kind}`);
  assert.equal(problem.status, status);
  for (const text of [problem.title, problem.detail]) {
    assert.equal(typeof text, 'string');
    assert.ok(text.length > 5, answer.text);
  }
  return problem;
}

/** The pointer and code of each error in a response, such as `/price precision`. */
export function faultsOf(answer: Answer): string[] {
  const errors: { pointer?: string; parameter?: string; code: string; detail: string }[] =
    answer.json().errors ?? [];
  return errors.map(({ pointer, parameter, code, detail }) => {
    assert.ok(detail.length > 5, answer.text);
    return `${pointer ?? parameter} ${code}`;
  });
}

/** All of a response that a client can compare with another: everything but the date. */
export function comparable(answer: Answer) {
  const { date, ...headers } = answer.headers;
  assert.ok(date);
  return { status: answer.status, headers, text: answer.text };
}

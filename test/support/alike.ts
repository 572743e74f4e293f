/**
 * Whether two answers tell the same: what another seller has, and what nobody has, must not be told
 * from each other by the status, a header field or a byte of the body.
 */
import assert from 'node:assert/strict';
import type { Answer } from './http.ts';

/** What is another one each time: times, ids and secrets that were made, positions, sizes. */
const MADE = new RegExp([
  String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`, String.raw`\b(?:prd|whk|key|msg)_[0-9a-v]+`,
  String.raw`\bspk_\w{36}`, String.raw`\bwhsec_[\w+/=]+`,
  String.raw`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`,
  String.raw`\b[A-Z2-7]{4}(?: ?[A-Z2-7]{4}){7}\b`, String.raw`(?<=name="secret" value=")[\w-]+`,
  String.raw`(?<="position":)\d+`, String.raw`(?<=/portal/import/)[\w-]+`,
].join('|'), 'g');
const PASSED_OVER = new Set(['date', 'content-length', 'etag', 'set-cookie', 'server-timing']);

/** Asserts it of two answers, each of which may say the name that it was asked for. */
export function assertAlike(
  foreign: Answer, unknown: Answer, names: readonly [foreign: string, unknown: string],
  context: string,
): void {
  assert.equal(foreign.status, unknown.status, `${context}: ${foreign.text}`);
  assert.deepEqual(
    plainFields(foreign, names[0]), plainFields(unknown, names[1]), `${context}: the fields`);
  assert.equal(plain(foreign.text, names[0]), plain(unknown.text, names[1]), context);
}

function plainFields({ headers }: Answer, name: string): unknown {
  const kept = Object.entries(headers).filter(([field]) => !PASSED_OVER.has(field));
  return kept.map(([field, value]) => [field, plain(String(value), name)]).sort();
}

function plain(text: string, name: string): string {
  const [inForm = ''] = new URLSearchParams([['', name]]).toString().slice(1).split('&');
  const named = [name, encodeURIComponent(name), inForm]
    .reduce((rest, form) => rest.replaceAll(form, 'NAME'), text);
  return named.replaceAll(MADE, 'MADE');
}

/**
 * Compares two responses: status, header fields and every byte of the body must not reveal whether
 * an id belongs to another seller or does not exist.
 */
import assert from 'node:assert/strict';
import type { Answer } from './http.ts';

/** Generated values, which differ in each response: times, ids, secrets, positions. */
const GENERATED = new RegExp([
  String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`, String.raw`\b(?:prd|whk|key|msg|imp)_[0-9a-v]+`,
  String.raw`\bspk_\w{36}`, String.raw`\bwhsec_[\w+/=]+`,
  String.raw`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`,
  String.raw`\b[A-Z2-7]{4}(?: ?[A-Z2-7]{4}){7}\b`, String.raw`(?<=name="secret" value=")[\w-]+`,
  String.raw`(?<=<path d=")[^"]+`, // a QR code
  String.raw`(?<="position":|\?change=)\d+`, String.raw`(?<=/portal/import/)[\w-]+`,
].join('|'), 'g');
const IGNORED_FIELDS = new Set(['date', 'content-length', 'etag', 'set-cookie', 'server-timing']);

/** Asserts that both responses are identical; each may contain the name that was requested. */
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
  const kept = Object.entries(headers).filter(([field]) => !IGNORED_FIELDS.has(field));
  return kept.map(([field, value]) => [field, plain(String(value), name)]).sort();
}

function plain(text: string, name: string): string {
  const [inForm = ''] = new URLSearchParams([['', name]]).toString().slice(1).split('&');
  const named = [name, encodeURIComponent(name), inForm]
    .reduce((rest, form) => rest.replaceAll(form, 'NAME'), text);
  return named.replaceAll(GENERATED, 'GENERATED');
}

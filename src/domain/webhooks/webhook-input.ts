/**
 * What a seller sends about webhooks, parsed once. Whether a message may go to an address is not
 * for this file to say: that takes looking up its name, and a setting may allow more.
 */
import { CHANGE_TYPES, type ChangeType } from '../catalogue/change.ts';
import { DURATION_HINT, findDuration, parseDuration } from '../time.ts';
import { AppError } from '../error.ts';
import {
  WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS, WEBHOOK_OVERLAP_DEFAULT, WEBHOOK_URL_LIMIT_CHARACTERS,
} from '../limits.ts';
import { ObjectReader, type ParseResult } from '../validation.ts';
import { type ValidationError, validateText } from '../text.ts';
import {
  type NewWebhook, type WebhookPatch, type WebhookStatus, WEBHOOK_STATUSES,
} from './webhook.ts';

/** Finds out what is wrong with an address to send to; undefined where nothing is. */
type CheckUrl = (url: string) => Promise<ValidationError | undefined>;

/** @throws AppError `invalid_data` naming every faulty, missing and unknown member */
export async function parseNewWebhook(body: unknown, checkUrl: CheckUrl): Promise<NewWebhook> {
  const reader = new ObjectReader(body, { description: '', types: null });
  const { url, description, types } = readMembers(reader);
  await noteUrl(reader, url, checkUrl);
  const error = reader.findError();
  if (error) throw error;
  if (url === undefined || description === undefined || types === undefined) {
    throw new AppError('internal', 'A faulty member was not reported.');
  }
  return { url, description, types };
}

/**
 * A merge patch (RFC 7396). A null is only for `types`, where it means all of them.
 * @throws AppError `invalid_data` naming every faulty and unknown member
 */
export async function parseWebhookPatch(body: unknown, checkUrl: CheckUrl): Promise<WebhookPatch> {
  const reader = new ObjectReader(body, {}, true);
  const { url, description, types } = readMembers(reader);
  const status = reader.read('status', parseStatus);
  await noteUrl(reader, url, checkUrl);
  const error = reader.findError();
  if (error) throw error;
  return {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(types !== undefined && { types }),
    ...(status !== undefined && { status }),
  };
}

/**
 * The position after which everything is to be sent again, at most that of the catalogue.
 * @throws AppError `invalid_data`
 */
export function parseReplay(body: unknown, catalogue: number): number {
  const reader = new ObjectReader(body);
  const position = reader.read('position', (value) => parsePosition(value, catalogue));
  const error = reader.findError();
  if (error) throw error;
  if (position === undefined) throw new AppError('internal', 'A fault was not reported.');
  return position;
}

/** How long both secrets sign, in milliseconds. @throws AppError `invalid_data` */
export function parseRotation(body: unknown): number {
  const reader = new ObjectReader(body, { overlap: WEBHOOK_OVERLAP_DEFAULT });
  const overlapMs = reader.read('overlap', parseOverlap);
  const error = reader.findError();
  if (error) throw error;
  return overlapMs ?? parseDuration(WEBHOOK_OVERLAP_DEFAULT);
}

/** The members that were read; those that are missing or faulty are undefined. */
type ReadMembers = { readonly [Member in keyof NewWebhook]: NewWebhook[Member] | undefined };

function readMembers(reader: ObjectReader): ReadMembers {
  return {
    url: reader.read('url', parseUrl),
    description: reader.read('description', parseDescription),
    types: reader.read('types', parseTypes),
  };
}

async function noteUrl(
  reader: ObjectReader, url: string | undefined, checkUrl: CheckUrl,
): Promise<void> {
  const error = url === undefined ? undefined : await checkUrl(url);
  if (error) reader.addError('url', error);
}

function parseUrl(value: unknown): ParseResult<string> {
  if (typeof value !== 'string') return { error: { code: 'type', detail: 'Must be a string.' } };
  const url = value.length > WEBHOOK_URL_LIMIT_CHARACTERS ? value : URL.parse(value)?.href;
  if (url === undefined) {
    const detail = 'Must be an address such as https://shop.example/changes.';
    return { error: { code: 'format', detail } };
  }
  if (url.length <= WEBHOOK_URL_LIMIT_CHARACTERS) return { value: url };
  const detail = `Must have at most ${WEBHOOK_URL_LIMIT_CHARACTERS} characters.`;
  return { error: { code: 'length', detail } };
}

function parseDescription(value: unknown): ParseResult<string> {
  if (value === '') return { value };
  if (typeof value !== 'string') return { error: { code: 'type', detail: 'Must be a string.' } };
  const error = validateText(value, WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS);
  return error ? { error } : { value };
}

/** Each type once, in the order of the list of all. */
function parseTypes(value: unknown): ParseResult<readonly ChangeType[] | null> {
  if (value === null) return { value };
  if (!Array.isArray(value)) {
    return { error: { code: 'type', detail: 'Must be an array, or null for all types.' } };
  }
  const types = CHANGE_TYPES.filter((type) => value.includes(type));
  const isKnown = value.every((type) => CHANGE_TYPES.some((known) => known === type));
  if (types.length > 0 && isKnown) return { value: types };
  const detail = `Must name some of ${CHANGE_TYPES.join(', ')}; or be null for all types.`;
  return { error: { code: 'format', detail } };
}

function parseStatus(value: unknown): ParseResult<WebhookStatus> {
  const status = WEBHOOK_STATUSES.find((known) => known === value);
  if (status) return { value: status };
  return { error: { code: 'format', detail: `Must be ${WEBHOOK_STATUSES.join(' or ')}.` } };
}

function parsePosition(value: unknown, catalogue: number): ParseResult<number> {
  if (typeof value !== 'number') return { error: { code: 'type', detail: 'Must be a number.' } };
  if (Number.isInteger(value) && value >= 0 && value <= catalogue) return { value: value + 0 };
  const detail = `Must be a whole number from 0 to ${catalogue}, where the catalogue stands.`;
  return { error: { code: 'range', detail } };
}

function parseOverlap(value: unknown): ParseResult<number> {
  if (typeof value !== 'string') return { error: { code: 'type', detail: 'Must be a string.' } };
  const durationMs = findDuration(value);
  if (durationMs !== undefined) return { value: durationMs };
  return { error: { code: 'format', detail: DURATION_HINT } };
}

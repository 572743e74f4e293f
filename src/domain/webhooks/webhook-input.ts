/**
 * What a seller sends about webhooks: validators with their JSON Schemas, and the parsers of whole
 * bodies. Whether messages may be sent to a URL is not decided here: that needs a DNS lookup and
 * depends on settings.
 */
import { CHANGE_TYPES, type ChangeType } from '../catalogue/change.ts';
import { AppError } from '../error.ts';
import {
  WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS, WEBHOOK_OVERLAP_DEFAULT, WEBHOOK_URL_LIMIT_CHARACTERS,
} from '../limits.ts';
import { type ValidationError, validateText } from '../text.ts';
import { DURATION_HINT, findDuration } from '../time.ts';
import { ObjectReader, type ParseResult, type Validator } from '../validation.ts';
import {
  type NewWebhook, type WebhookPatch, type WebhookStatus, WEBHOOK_STATUSES,
} from './webhook.ts';

/** Says why messages must not be sent to a URL; undefined if they may. */
type CheckUrl = (url: string) => Promise<ValidationError | undefined>;

const NOT_A_STRING = { error: { code: 'type', detail: 'Must be a string.' } } as const;

/** The members of a webhook that a seller can set. */
export const webhookFields = {
  url: {
    schema: {
      type: 'string', minLength: 1, maxLength: WEBHOOK_URL_LIMIT_CHARACTERS,
      description: 'Where messages are sent: https, a public address, and port 443 or 8443, unless '
        + 'the server allows more. No password, no fragment.',
    },
    parse: parseUrl,
  },
  description: {
    schema: { type: 'string', maxLength: WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS },
    parse: parseDescription,
  },
  types: {
    schema: {
      type: ['array', 'null'], minItems: 1, items: { type: 'string', enum: CHANGE_TYPES },
      description: 'The types of changes that are sent; null for all.',
    },
    parse: parseTypes,
  },
  status: {
    schema: {
      type: 'string', enum: WEBHOOK_STATUSES,
      description: '`active`: changes are sent. `disabled`: nothing is sent until it is active.',
    },
    parse: parseStatus,
  },
} as const satisfies Readonly<Record<string, Validator<unknown>>>;

/** The overlap of a rotation, in milliseconds. */
export const overlapField: Validator<number> = {
  schema: {
    type: 'string', pattern: '^\\d{1,9}[smhd]$', default: WEBHOOK_OVERLAP_DEFAULT,
    description: 'How long the old secret also signs: a number and s, m, h or d.',
  },
  parse: parseOverlap,
};

/** @throws AppError `invalid_data` naming every invalid, missing and unknown member */
export async function parseNewWebhook(body: unknown, checkUrl: CheckUrl): Promise<NewWebhook> {
  const reader = new ObjectReader(body, { description: '', types: null });
  const members = readMembers(reader);
  await noteUrl(reader, members.url, checkUrl);
  reader.assertValid();
  // The cast: a valid object has every member.
  return members as NewWebhook;
}

/**
 * A merge patch (RFC 7396). Null is allowed only for `types`, where it means all of them.
 * @throws AppError `invalid_data` naming every invalid and unknown member
 */
export async function parseWebhookPatch(body: unknown, checkUrl: CheckUrl): Promise<WebhookPatch> {
  const reader = new ObjectReader(body, {}, true);
  const members = { ...readMembers(reader), status: reader.read('status', parseStatus) };
  await noteUrl(reader, members.url, checkUrl);
  reader.assertValid();
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/**
 * The position to replay from, at most that of the catalogue.
 * @throws AppError `invalid_data`
 */
export function parseReplay(body: unknown, catalogue: number): number {
  return parseMember(body, 'position', (value) => parsePosition(value, catalogue));
}

/** How long both secrets sign, in milliseconds. @throws AppError `invalid_data` */
export function parseRotation(body: unknown): number {
  return parseMember(body, 'overlap', parseOverlap, { overlap: WEBHOOK_OVERLAP_DEFAULT });
}

function parseMember<Value>(
  body: unknown, member: string, parse: (value: unknown) => ParseResult<Value>,
  defaults?: Readonly<Record<string, unknown>>,
): Value {
  const reader = new ObjectReader(body, defaults);
  const value = reader.read(member, parse);
  reader.assertValid();
  if (value === undefined) throw new AppError('internal', 'An error was not reported.');
  return value;
}

/** Invalid and missing members are undefined. */
function readMembers(reader: ObjectReader) {
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
  if (typeof value !== 'string') return NOT_A_STRING;
  const url = value.length > WEBHOOK_URL_LIMIT_CHARACTERS ? value : URL.parse(value)?.href;
  if (url === undefined) {
    const detail = 'Must be a URL such as https://shop.example/changes.';
    return { error: { code: 'format', detail } };
  }
  if (url.length <= WEBHOOK_URL_LIMIT_CHARACTERS) return { value: url };
  const detail = `Must have at most ${WEBHOOK_URL_LIMIT_CHARACTERS} characters.`;
  return { error: { code: 'length', detail } };
}

function parseDescription(value: unknown): ParseResult<string> {
  if (value === '') return { value };
  if (typeof value !== 'string') return NOT_A_STRING;
  const error = validateText(value, WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS);
  return error ? { error } : { value };
}

/** Each type once, in the order of `CHANGE_TYPES`. */
function parseTypes(value: unknown): ParseResult<readonly ChangeType[] | null> {
  if (value === null) return { value };
  if (!Array.isArray(value)) {
    return { error: { code: 'type', detail: 'Must be an array, or null for all types.' } };
  }
  const types = CHANGE_TYPES.filter((type) => value.includes(type));
  const isKnown = value.every((type) => CHANGE_TYPES.some((known) => known === type));
  if (types.length > 0 && isKnown) return { value: types };
  const detail = `Must contain some of ${CHANGE_TYPES.join(', ')}, or be null for all types.`;
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
  const detail = `Must be a whole number from 0 to ${catalogue}, the catalogue's position.`;
  return { error: { code: 'range', detail } };
}

function parseOverlap(value: unknown): ParseResult<number> {
  if (typeof value !== 'string') return NOT_A_STRING;
  const durationMs = findDuration(value);
  if (durationMs !== undefined) return { value: durationMs };
  return { error: { code: 'format', detail: DURATION_HINT } };
}

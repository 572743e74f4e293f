/**
 * Validates and parses webhook requests. Does not decide whether messages may be sent to a URL:
 * that needs a DNS lookup and depends on settings.
 */
import { oneOf } from '../arguments.ts';
import {
  WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS, WEBHOOK_OVERLAP_DEFAULT, WEBHOOK_URL_LIMIT_CHARACTERS,
} from '../limits.ts';
import { type Generation, positionValidator } from '../revision.ts';
import type { ValidationError } from '../text.ts';
import { DURATION_HINT, findDuration } from '../time.ts';
import {
  invalid, lineValidator, ObjectReader, type ParseResult, type Validator,
} from '../validation.ts';
import {
  findWebhookType, WEBHOOK_TYPE_NAMES, WEBHOOK_TYPES, type WebhookType,
} from './webhook-type.ts';
import {
  type NewWebhook, WEBHOOK_DELIVERIES, type WebhookPatch, WEBHOOK_STATUSES,
} from './webhook.ts';

/** Returns why messages must not be sent to a URL; undefined if they may. */
type CheckUrl = (url: string) => Promise<ValidationError | undefined>;

type Fields<Members> = {
  readonly [Member in keyof Members]-?: Validator<Exclude<Members[Member], undefined>>
};

const line = lineValidator(WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS);

const newWebhookFields: Fields<NewWebhook> = {
  url: {
    schema: { type: 'string', minLength: 1, maxLength: WEBHOOK_URL_LIMIT_CHARACTERS },
    description: 'Where messages are sent. Must use https, a public address and port 443 or 8443, '
      + 'unless the server allows more. No password, no fragment.',
    parse: parseUrl,
  },
  description: {
    schema: { type: 'string', maxLength: WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS },
    parse: (value) => (value === '' ? { value } : line.parse(value)),
  },
  types: {
    schema: {
      type: ['array', 'null'], minItems: 1, items: { type: 'string', enum: WEBHOOK_TYPE_NAMES },
    },
    description: 'What to send; null for all changes. A name with a dot, such as `stock.changed`, '
      + 'is another name of the type (`stock`), under which it is stored. `stock.low` selects the '
      + "changes that take a product's stock from above the low-stock threshold to it, or below.",
    parse: parseTypes,
  },
  delivery: {
    schema: { type: 'string', enum: WEBHOOK_DELIVERIES },
    description: '`batch` (default): up to 100 changes in a message. `single`: one change in a '
      + 'message, for services that run once for each message.',
    parse: oneOf(WEBHOOK_DELIVERIES),
  },
};

/** The members of a webhook that a seller can set. */
export const webhookFields: Fields<WebhookPatch> = {
  ...newWebhookFields,
  status: {
    schema: { type: 'string', enum: WEBHOOK_STATUSES },
    description: '`active`: changes are sent. `disabled`: nothing is sent.',
    parse: oneOf(WEBHOOK_STATUSES),
  },
};

/** Parses to milliseconds. */
export const overlapField: Validator<number> = {
  schema: { type: 'string', pattern: '^\\d{1,9}[smhd]$', default: WEBHOOK_OVERLAP_DEFAULT },
  description: 'How long the old secret also signs: a number and a unit (s, m, h, d).',
  parse: parseOverlap,
};

/** @throws AppError `invalid_data` naming every invalid, missing and unknown member */
export async function parseNewWebhook(body: unknown, checkUrl: CheckUrl): Promise<NewWebhook> {
  const reader = new ObjectReader(body, { description: '', types: null });
  // The cast: a valid object has every member.
  return await readMembers(reader, newWebhookFields, checkUrl) as NewWebhook;
}

/**
 * A merge patch (RFC 7396). Null is allowed only for `types`, where it means all types.
 * @throws AppError `invalid_data` naming every invalid and unknown member
 */
export function parseWebhookPatch(body: unknown, checkUrl: CheckUrl): Promise<WebhookPatch> {
  return readMembers(new ObjectReader(body, {}, true), webhookFields, checkUrl);
}

/**
 * The position to replay from, at most that of the catalogue.
 * @throws AppError `invalid_data`
 */
export function parseReplay(body: unknown, catalogue: number, generation?: Generation): number {
  return readMember(new ObjectReader(body), 'position', (value) =>
    parsePosition(value, catalogue, generation));
}

/** How long both secrets sign, in milliseconds. @throws AppError `invalid_data` */
export function parseRotation(body: unknown): number {
  const reader = new ObjectReader(body, { overlap: WEBHOOK_OVERLAP_DEFAULT });
  return readMember(reader, 'overlap', parseOverlap);
}

async function readMembers(
  reader: ObjectReader, fields: Partial<Fields<WebhookPatch>>, checkUrl: CheckUrl,
): Promise<WebhookPatch> {
  const members = Object.entries<Validator<unknown>>(fields)
    .map(([member, { parse }]) =>
      [member, reader.read(member, parse, member !== 'delivery')] as const)
    .filter(([, value]) => value !== undefined);
  // The cast: each validator returns its member's type.
  const webhook = Object.fromEntries(members) as WebhookPatch;
  const error = webhook.url === undefined ? undefined : await checkUrl(webhook.url);
  if (error) reader.addError('url', error);
  reader.assertValid();
  return webhook;
}

function readMember<Value>(
  reader: ObjectReader, member: string, parse: Validator<Value>['parse'],
): Value {
  const value = reader.read(member, parse);
  reader.assertValid();
  // The cast: a valid object has the member.
  return value as Value;
}

function parseUrl(value: unknown): ParseResult<string> {
  if (typeof value !== 'string') return invalid('type', 'Must be a string.');
  const url = value.length > WEBHOOK_URL_LIMIT_CHARACTERS ? value : URL.parse(value)?.href;
  if (url === undefined) {
    return invalid('format', 'Must be a URL such as https://shop.example/changes.');
  }
  if (url.length <= WEBHOOK_URL_LIMIT_CHARACTERS) return { value: url };
  return invalid('length', `Must have at most ${WEBHOOK_URL_LIMIT_CHARACTERS} characters.`);
}

/** Each type once, in the order of `WEBHOOK_TYPES`. */
function parseTypes(value: unknown): ParseResult<readonly WebhookType[] | null> {
  if (value === null) return { value };
  if (!Array.isArray(value)) return invalid('type', 'Must be an array, or null for all types.');
  const parsedTypes = value.map(findWebhookType);
  const types = WEBHOOK_TYPES.filter((type) => parsedTypes.includes(type));
  if (types.length > 0 && !parsedTypes.includes(undefined)) return { value: types };
  const typeNames = WEBHOOK_TYPES.join(', ');
  return invalid('format', `Must contain one or more of ${typeNames}, or be null for all types.`);
}

function parsePosition(
  value: unknown, catalogue: number, generation: Generation,
): ParseResult<number> {
  const parsed = positionValidator(generation).parse(value);
  if ('error' in parsed && parsed.error.code === 'type') return parsed;
  if ('value' in parsed && parsed.value <= catalogue) return parsed;
  const detail = `Must be a whole number from 0 to ${catalogue}, the catalogue's position.`;
  return invalid('range', detail);
}

function parseOverlap(value: unknown): ParseResult<number> {
  if (typeof value !== 'string') return invalid('type', 'Must be a string.');
  const durationMs = findDuration(value);
  return durationMs === undefined ? invalid('format', DURATION_HINT) : { value: durationMs };
}

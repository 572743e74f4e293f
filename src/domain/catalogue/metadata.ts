/**
 * Metadata: pairs of texts that a seller attaches to a product, such as its ids in other systems.
 * They are kept as the text of a JSON object with sorted names, so that equal metadata are equal
 * texts. A patch is the same text with null for each pair to remove (RFC 7396).
 */
import {
  METADATA_NAME_LIMIT_CODE_POINTS, METADATA_PAIRS_LIMIT, METADATA_VALUE_LIMIT_CODE_POINTS,
} from '../limits.ts';
import { type ValidationError, validateText } from '../text.ts';
import { invalid, type Validator } from '../validation.ts';

declare const brand: unique symbol;
/** The text of a JSON object with sorted names, and at least one pair. */
export type Metadata = string & { readonly [brand]: 'Metadata' };

type Pairs = ReadonlyMap<string, string | null>;

/** Accepts null for a pair. An object without pairs is a patch that changes nothing. */
export const metadataValidator: Validator<Metadata> = {
  schema: {
    type: 'object', maxProperties: METADATA_PAIRS_LIMIT,
    propertyNames: { minLength: 1, maxLength: METADATA_NAME_LIMIT_CODE_POINTS },
    additionalProperties: {
      type: 'string', minLength: 1, maxLength: METADATA_VALUE_LIMIT_CODE_POINTS,
    },
  },
  parse(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return invalid('type', 'Must be an object with texts.');
    }
    const pairs = new Map<string, string | null>();
    for (const [name, text] of Object.entries<unknown>({ ...value })) {
      const quotedName = JSON.stringify(name.slice(0, METADATA_NAME_LIMIT_CODE_POINTS));
      const fault = validateName(name);
      if (fault) return invalid(fault.code, `The name ${quotedName}: ${fault.detail}`);
      if (typeof text !== 'string' && text !== null) {
        return invalid('type', `The value of ${quotedName}: Must be a string.`);
      }
      const error = text !== null && validateText(text, METADATA_VALUE_LIMIT_CODE_POINTS);
      if (error) return invalid(error.code, `The value of ${quotedName}: ${error.detail}`);
      pairs.set(name, text);
    }
    // Null pairs take no room, but a bound is needed.
    if (countPairs(pairs) > METADATA_PAIRS_LIMIT || pairs.size > 2 * METADATA_PAIRS_LIMIT) {
      return invalid('length', TOO_MANY_PAIRS);
    }
    return { value: formatMetadata(pairs) };
  },
};

export const TOO_MANY_PAIRS = `Must have at most ${METADATA_PAIRS_LIMIT} pairs.`;

/** The pairs after a patch; null if none are left. The result may have too many. */
export function mergeMetadata(
  before: Metadata | null | undefined, patch: Metadata | null | undefined,
): Metadata | null {
  if (patch === undefined) return before ?? null;
  if (patch === null) return null;
  const merged = new Map([...readMetadata(before), ...readMetadata(patch)]);
  const pairs = new Map([...merged].filter(([, text]) => text !== null));
  return pairs.size === 0 ? null : formatMetadata(pairs);
}

/** The patch that makes one of another. */
export function replaceMetadata(
  before: Metadata | null | undefined, after: Metadata | null | undefined,
): Metadata | null {
  if (!after) return null;
  const removed = [...readMetadata(before).keys()].map((name) => [name, null] as const);
  return formatMetadata(new Map<string, string | null>([...removed, ...readMetadata(after)]));
}

export function hasTooManyPairs(metadata: Metadata | null | undefined): boolean {
  return countPairs(readMetadata(metadata)) > METADATA_PAIRS_LIMIT;
}

export function readMetadata(metadata: Metadata | null | undefined): Pairs {
  // The cast: the text was made below.
  const object = JSON.parse(metadata ?? '{}') as Readonly<Record<string, string | null>>;
  return new Map(Object.entries(object));
}

/** As text, from pairs that were validated before. */
export function formatMetadata(pairs: Pairs): Metadata {
  const sorted = [...pairs].sort(([name], [otherName]) => (name < otherName ? -1 : 1));
  const members = sorted.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`);
  return `{${members.join(',')}}` as Metadata; // the names are sorted
}

function validateName(name: string): ValidationError | undefined {
  const error = validateText(name, METADATA_NAME_LIMIT_CODE_POINTS);
  if (error || name.trim() === name) return error;
  return { code: 'characters', detail: 'Must not begin or end with white space.' };
}

function countPairs(pairs: Pairs): number {
  return [...pairs.values()].filter((text) => text !== null).length;
}

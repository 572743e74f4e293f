/**
 * Looks up many products by what other systems know of them. All queries, up to 1,000, read the
 * catalogue at one position. A lookup writes nothing, so an Idempotency-Key has no effect.
 */
import { isObject } from '../../domain/arguments.ts';
import { barcodeValidator } from '../../domain/catalogue/barcode.ts';
import { metadataValidator } from '../../domain/catalogue/metadata.ts';
import { skuValidator } from '../../domain/catalogue/product-fields.ts';
import type { ProductFilter } from '../../domain/catalogue/product-query.ts';
import { AppError, type Issue } from '../../domain/error.ts';
import { parseProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import { ISSUES_PER_RESPONSE_LIMIT } from '../../domain/limits.ts';
import { toRevision } from '../../domain/revision.ts';
import {
  invalid, ObjectReader, type ParseResult, stringValidator, type Validator,
} from '../../domain/validation.ts';
import { type Reply, replyJson } from '../../http/response/reply.ts';
import { LOOKUP_MATCHES_LIMIT, LOOKUP_PRODUCTS_LIMIT } from '../../store/limits.ts';
import {
  LOOKUP_BODY_LIMIT_BYTES, LOOKUP_QUERIES_LIMIT, LOOKUP_RESPONSE_LIMIT_CHARACTERS,
} from '../limits.ts';
import { parseParameters } from '../parameters.ts';
import type { ApiRequest, Services } from '../route.ts';
import { createFormatter } from './product-list.ts';
import { productListParameters } from './product-query.ts';

export const lookupParameters = { fields: productListParameters.fields } as const;

/** The members of a query, of which it has exactly one. */
export const LOOKUP_VALIDATORS = {
  sku: skuValidator, id: stringValidator, barcode: barcodeValidator,
  metadata: {
    schema: { ...metadataValidator.schema, minProperties: 1 }, parse: parsePairs,
    description: 'Pairs that must all match.',
  },
} as const satisfies Readonly<Record<string, Validator<unknown>>>;
export const LOOKUP_QUERIES_SCHEMA =
  { type: 'array', minItems: 1, maxItems: LOOKUP_QUERIES_LIMIT } as const;

/** POST /api/v1/products/lookup: 200, 400, 503 */
export async function lookUpProducts(call: ApiRequest, { store }: Services): Promise<Reply> {
  const { sellerId, position, generation } = call.caller;
  const { fields } = parseParameters(lookupParameters, call.query, call.caller);
  const filters = parseQueries(await call.readJson(LOOKUP_BODY_LIMIT_BYTES), sellerId);
  const found = await store.lookUpProducts(sellerId, filters, position);
  assertFew(found.results.map(({ length }) => length));
  const format = createFormatter({ fields });
  let characters = 0;
  const results = found.results.map((products) => {
    const text = `[${products.map(format).join(',')}]`;
    characters += text.length;
    if (characters <= LOOKUP_RESPONSE_LIMIT_CHARACTERS) return text;
    throw new AppError('invalid_data', `The products are too long for one response. ${FEWER}`);
  });
  return replyJson(`{"results":[${results.join(',')}],"position":${found.position}}`, {
    'seller-position': String(toRevision(generation, found.position)),
  });
}

const FEWER = 'Send fewer queries in a request, or name the members that you need in fields.';

/** @throws AppError `invalid_data` naming every error, up to a limit */
function parseQueries(body: unknown, sellerId: SellerId): readonly ProductFilter[] {
  const reader = new ObjectReader(body);
  const queries = reader.read('queries', parseList) ?? [];
  reader.assertValid();
  const issues: Issue[] = [];
  const filters = queries.flatMap((query, index): ProductFilter[] => {
    const parsed = parseQuery(query, sellerId);
    if (!Array.isArray(parsed)) return [parsed];
    const pointer = `/queries/${index}`;
    issues.push(...parsed.map((issue) => ({ ...issue, pointer: pointer + (issue.pointer ?? '') })));
    return [];
  });
  if (issues.length > 0) throw rejectQueries(issues);
  return filters;
}

function parseList(value: unknown): ParseResult<readonly unknown[]> {
  if (!Array.isArray(value)) return invalid('type', 'Must be an array.');
  if (value.length > 0 && value.length <= LOOKUP_QUERIES_LIMIT) return { value };
  return invalid('length', `Must have 1 to ${LOOKUP_QUERIES_LIMIT} queries.`);
}

/** The filter of a query, or its errors. */
function parseQuery(query: unknown, sellerId: SellerId): ProductFilter | Issue[] {
  if (!isObject(query)) return [{ pointer: '', code: 'type', detail: 'Must be an object.' }];
  const reader = new ObjectReader(query, {}, true);
  const { id, ...filter } = reader.readAll(LOOKUP_VALIDATORS);
  const error = reader.findError();
  if (error) return [...error.issues];
  const names = Object.keys(query);
  if (names.length === 1) {
    // No product has the id 0.
    return id === undefined ? filter : { id: parseProductId(sellerId, id) ?? 0 as ProductId };
  }
  const detail = `Must have exactly one of: ${Object.keys(LOOKUP_VALIDATORS).join(', ')}.`;
  return [{ pointer: '', code: names.length === 0 ? 'required' : 'mismatch', detail }];
}

function parsePairs(value: unknown): ParseResult<Readonly<Record<string, string>>> {
  const parsed = metadataValidator.parse(value);
  if ('error' in parsed) return parsed;
  // The cast: the validator wrote an object of texts, and of null.
  const pairs = JSON.parse(parsed.value) as Record<string, string | null>;
  const texts = Object.values(pairs);
  if (texts.length > 0 && !texts.includes(null)) return { value: pairs as Record<string, string> };
  return invalid('required', 'Must have at least one pair, and none that is null.');
}

/** @throws AppError `invalid_data` */
function assertFew(counts: readonly number[]): void {
  const issues = counts.flatMap((count, index): Issue[] => (count <= LOOKUP_MATCHES_LIMIT ? [] : [{
    pointer: `/queries/${index}`, code: 'range',
    detail: `Matches more than ${LOOKUP_MATCHES_LIMIT} products. List them instead, with the same `
      + 'condition as a parameter of GET /api/v1/products.',
  }]));
  if (issues.length > 0) throw rejectQueries(issues);
  if (counts.reduce((sum, count) => sum + count, 0) <= LOOKUP_PRODUCTS_LIMIT) return;
  const detail = `The queries match more than ${LOOKUP_PRODUCTS_LIMIT} products. `
    + 'Send fewer queries in a request.';
  throw new AppError('invalid_data', detail);
}

function rejectQueries(issues: readonly Issue[]): AppError {
  return new AppError('invalid_data', 'Correct the queries, and send them again.', {
    issues: issues.slice(0, ISSUES_PER_RESPONSE_LIMIT),
  });
}

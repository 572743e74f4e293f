/**
 * The JSON Schemas (2020-12) of requests and responses, derived from validators. Requests may have
 * no other members; responses may get more over time, so clients should accept unknown ones.
 */
import type { Issue } from '../../domain/error.ts';
import { ISSUES_PER_RESPONSE_LIMIT } from '../../domain/limits.ts';
import {
  PRODUCT_FIELDS, type ProductField, SENT_FIELDS,
} from '../../domain/catalogue/product-fields.ts';
import { formatProblemType } from '../../http/response/problem.ts';
import { syncResponse, stockSchemas } from '../stock/stock-schemas.ts';
import { describeMembers, enumOf, objectOf, pageOf, refer } from './schema.ts';
import type { Schema } from '../../domain/validation.ts';

export const product = describeFields(PRODUCT_FIELDS);
const sent = describeFields(SENT_FIELDS);
const required = SENT_FIELDS.filter(({ isRequired }) => isRequired).map(({ name }) => name);

function describeFields(fields: readonly ProductField[]): Readonly<Record<string, Schema>> {
  return describeMembers(Object.fromEntries(fields.map((field) => [field.name, field])));
}

export const problem = {
  type: {
    type: 'string', pattern: `^${formatProblemType('[a-z-]+')}$`,
    description: 'Names the kind of the problem; the examples of the answers have them all.',
  },
  title: { type: 'string' },
  status: { type: 'integer', minimum: 400, maximum: 599 },
  detail: { type: 'string', description: 'What is wrong, and what to do.' },
  instance: {
    type: 'string', pattern: '^urn:uuid:[0-9a-f-]{36}$',
    description: 'Finds a failure of the server in its log.',
  },
  errors: { type: 'array', maxItems: ISSUES_PER_RESPONSE_LIMIT, items: refer('Issue') },
};

const issueCodes: Readonly<Record<Issue['code'], string>> = {
  required: 'it is missing',
  unknown: 'there is no such member or parameter',
  duplicate: 'it is given twice',
  type: 'it is of another type',
  blank: 'it has nothing visible',
  length: 'it is too long',
  range: 'it is too small or too large',
  precision: 'it has too many decimals, or digits that cannot be kept exactly',
  format: 'it is not written as it should be',
  characters: 'it has characters that it may not have',
  mismatch: 'it contradicts another part of the request',
  taken: 'another product has it',
  target: 'nothing can be sent to this address',
};

export const schemas: Readonly<Record<string, Schema>> = {
  Product: objectOf(product),
  NewProduct: { ...objectOf(sent, required), additionalProperties: false },
  ProductReplacement: {
    ...objectOf(sent, required.filter((name) => name !== 'sku')), additionalProperties: false,
    description: '`sku` may be left out; where it is sent it is the one of the address.',
  },
  ProductPatch: { ...objectOf(sent, []), additionalProperties: false },
  ProductPage: pageOf('products', refer('Product')),
  PartialProduct: {
    ...objectOf(product, []), description: 'A product with the members that `fields` asks for.',
  },
  PartialProductPage: pageOf('products', refer('PartialProduct')),
  ...stockSchemas,
  Problem: {
    ...objectOf({ ...problem, ...syncResponse }, ['type', 'title', 'status', 'detail']),
    description: 'RFC 9457. The refusal of a call that changes stock has its results, too.',
  },
  Issue: objectOf({
    pointer: { type: 'string', description: 'JSON Pointer to the member of the body that it is.' },
    parameter: { type: 'string', description: 'Name of the parameter of the query that it is.' },
    code: { type: 'string', ...enumOf(issueCodes) },
    detail: problem.detail,
  }, ['code', 'detail']),
};

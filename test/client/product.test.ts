/**
 * The client's types of products say what the table of product fields says: `make types` compares
 * the types, and the tests compare the comments, which an editor shows.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { NewProduct, Position, Product, StockChange } from '../../src/client/index.ts';
import {
  type Definition, PRODUCT_FIELDS, type ProductField, SENT_FIELDS,
} from '../../src/domain/catalogue/product-fields.ts';
import type {
  StockChange as StoredStockChange,
} from '../../src/domain/catalogue/stock-change.ts';

type Unbranded<Value> = Value extends string ? string : Value;
type OptionalDefinition = Extract<Definition, { readonly isRequired: false }>;
type OptionalMembers = {
  readonly [Field in OptionalDefinition as Field['name']]?:
    Field['kind'] extends 'pairs' ? Readonly<Record<string, string>>
      : Field['kind'] extends 'flag' ? boolean : NonNullable<ReturnType<Field['read']>>;
};
type RequiredMembers = {
  readonly [Field in Exclude<Definition, OptionalDefinition> as Field['name']]:
    Field['name'] extends 'position' ? Position : Unbranded<ReturnType<Field['read']>>;
};
type SentName = Extract<Definition, { readonly kind: string }>['name'];
type NewMembers = Pick<RequiredMembers, Extract<SentName, keyof RequiredMembers>> & {
  readonly [Name in keyof OptionalMembers]: (Name extends 'metadata'
    ? Readonly<Record<string, string | null>> : OptionalMembers[Name]) | null;
};
type ChangeMembers = {
  readonly [Name in keyof StoredStockChange]: Unbranded<StoredStockChange[Name]> | undefined;
};

/** One type of both forms: with its members alone. */
type Flat<Type> = { readonly [Member in keyof Type]: Type[Member] };
type Equal<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends (<T>() => T extends Flat<B> ? 1 : 2)
  ? true : false;
const equals: readonly true[] = [
  true satisfies Equal<Product, RequiredMembers & OptionalMembers>,
  true satisfies Equal<NewProduct, NewMembers>,
  true satisfies Equal<StockChange, ChangeMembers>,
];

const source = readFileSync(join(import.meta.dirname, '../../src/client/product.ts'), 'utf8');

/** The comment of each member of an interface, on one line. */
function readComments(name: string): ReadonlyMap<string, string> {
  const [, body = ''] = new RegExp(`\nexport interface ${name}\\b[^{]*\\{\n(.*?)\n\\}`, 's')
    .exec(source) ?? [];
  const members = body.matchAll(/\/\*\*(.*?)\*\/\s*readonly (\w+)/gs);
  return new Map([...members].map(([, comment = '', member = '']) =>
    [member, comment.replaceAll(/\s+(?:\* )?/g, ' ').trim()]));
}

function assertDescribed(name: string, fields: readonly ProductField[]): void {
  const comments = readComments(name);
  assert.deepEqual([...comments.keys()], fields.map((field) => field.name));
  for (const field of fields) {
    const comment = comments.get(field.name) ?? '';
    assert.ok(comment.includes(field.description ?? ''), `${name}.${field.name}: ${comment}`);
    const { maxLength, minimum, maximum, exclusiveMaximum, maxProperties } = field.schema;
    const limits = [maxLength, minimum, maximum, exclusiveMaximum, maxProperties]
      .filter((limit) => typeof limit === 'number');
    for (const limit of limits) {
      const text = new RegExp(`\\b${limit.toLocaleString('en-US')}\\b`);
      assert.match(comment, text, `${name}.${field.name}`);
    }
  }
}

test('describes each member of a product as the table of product fields does', () => {
  assert.equal(equals.length, 3);
  assertDescribed('Product', PRODUCT_FIELDS);
  const optional = SENT_FIELDS.filter(({ isRequired }) => !isRequired);
  assertDescribed('NewProduct', optional); // the others are those of Product
});

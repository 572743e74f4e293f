/**
 * `products list`, `get`, `lookup`, `set` and `delete`: the catalogue of a running server, product
 * by product. `import` and `export` are for files.
 */
import { LOOKUP_QUERIES_LIMIT, PAGE_SIZE_LIMIT } from '../../api/limits.ts';
import {
  type NewProduct, NotFoundError, type Product, type ProductFieldName, type ProductLookup,
  type ProductPatch, type SellerClient, type VersionOptions,
} from '../../client/index.ts';
import { SENT_FIELDS, type SentField } from '../../domain/catalogue/product-fields.ts';
import { validateNumberText } from '../../domain/number-text.ts';
import { formatCount } from '../../domain/wording.ts';
import { CommandFailure, findNearest, type Input, UsageError } from '../command.ts';
import { confirm, YES_FLAG } from '../confirm.ts';
import { formatCounted } from '../format.ts';
import { printable } from '../printable.ts';
import { outputClosed, outputDrained } from '../progress.ts';
import { readNumber, readPosition, splitAssignment, splitList } from '../settings.ts';
import { formatMembers, Table } from '../table.ts';
import { AT_FLAG, FIELDS_FLAG, FILTERS, readFilters } from '../transfer/export.ts';
import { LIMIT_FLAG, openClient, remoteCommand } from './client.ts';

/** What a table shows without `--fields`. */
const COLUMNS = ['name', 'category', 'sku', 'price', 'currency', 'stock'] as const;
const MEMBERS: readonly string[] = SENT_FIELDS.map(({ name, kind }) =>
  kind === 'pairs' ? `${name}.NAME` : name);
const IF_MATCH_FLAG = {
  'if-match': { value: 'POSITION', help: 'only if this is still the position of the product' },
};
/** Products that the confirmation prompt names; it counts the others. */
const PRODUCTS_NAMED = 5;
/** Before the name of a pair of metadata. */
const PAIR_PREFIX = 'metadata.';
const LOOKUP_MEMBERS: readonly string[] = ['sku', 'id', 'barcode'];

export const listProducts = remoteCommand({
  summary: 'Lists products as a table, or with --json as one JSON object per line.',
  flags: { ...FILTERS, limit: { ...LIMIT_FLAG, range: [1], help: 'at most this many' } },
  isStream: true,
  async run(input) {
    const { flags, isJson, note } = input;
    const filters = readFilters(flags);
    const most = readNumber(flags, 'limit', Infinity);
    const signal = outputClosed(input.io);
    const print = createPrinter(input);
    const list = openClient(input).products.list({
      ...(!isJson && { fields: COLUMNS }), ...filters,
      limit: Math.min(most, PAGE_SIZE_LIMIT),
    });
    let count = 0;
    let rows: object[] = [];
    for await (const product of list) {
      count += 1;
      rows.push(product);
      if (count === most || signal.aborted) break; // before the list requests another page
      if (rows.length < PAGE_SIZE_LIMIT) continue;
      print(rows);
      rows = [];
      await outputDrained(input.io, signal);
    }
    print(rows);
    if (count === 0 && !isJson) note('No product matches.');
  },
});

export const getProduct = remoteCommand({
  summary: 'Prints a product, named by its SKU or its id.',
  operands: ['[SKU]'],
  flags: { id: { value: 'ID', help: 'the id, instead of the SKU' }, at: AT_FLAG },
  async run(input) {
    const { operands: [sku = ''], flags: { id = '', at } } = input;
    if ((sku === '') === (id === '')) {
      throw new UsageError('Name the product: either SKU or --id ID.');
    }
    const product = await openClient(input).products.get(id === '' ? { sku } : id, { at });
    return describeProduct(product);
  },
});

export const lookUpProducts = remoteCommand({
  summary: 'Finds products by SKU, id, barcode or metadata.NAME, all at one position.',
  operands: ['MEMBER=VALUE...'],
  flags: { fields: FIELDS_FLAG },
  isStream: true,
  async run(input) {
    const { operands, flags, io, isJson, out, note } = input;
    const fields = flags['fields'] === undefined ? COLUMNS : splitList(flags['fields']);
    // The cast: the flag takes only names of members.
    const { results } = await openClient(input).products.lookup(operands.map(parseLookup), {
      ...((!isJson || flags['fields'] !== undefined) && { fields: fields as ProductFieldName[] }),
    });
    const queries = operands.map((query, index) => ({ query, products: results[index] ?? [] }));
    if (isJson) return queries.forEach((query) => out(JSON.stringify(query)));
    const rows = queries.flatMap(({ query, products }) =>
      products.map((product) => ({ query, ...product })));
    if (rows.length > 0) out(new Table(io.stdout, ['query', ...fields]).format(rows));
    for (const { query, products } of queries) {
      if (products.length === 0) note(`No product has ${query}.`);
    }
  },
});

export const setProduct = remoteCommand({
  summary: 'Changes members of a product, such as price=12.5; all others stay as they are.',
  operands: ['SKU', 'MEMBER=VALUE...'],
  flags: {
    create: { help: 'create the product if there is none; takes all members' },
    ...IF_MATCH_FLAG,
  },
  async run(input) {
    const { operands: [sku = '', ...assignments], flags } = input;
    const members = parseMembers(assignments);
    const options = readIfMatch(flags);
    const { products } = openClient(input);
    try {
      return describeProduct(await products.patch({ sku }, members, options));
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      const isCreated = flags['create'] !== undefined;
      // If another client creates the product first, the server rejects this one. The cast: the
      // server says which members are missing.
      const created = { sku, ...members } as NewProduct;
      if (isCreated) return describeProduct(await products.create(created));
      throw new CommandFailure(`There is no product with the SKU ${sku}. To create it, add --create`
        + ` and give ${SENT_FIELDS.filter(({ name, isRequired }) => isRequired && name !== 'sku')
          .map(({ name }) => name).join(', ')}.`);
    }
  },
});

export const deleteProducts = remoteCommand({
  summary: 'Deletes products by SKU or id. Asks to confirm on a terminal.',
  operands: ['[SKU]...'],
  flags: {
    id: { value: 'ID,...', help: 'the ids, instead of the SKUs' },
    ...IF_MATCH_FLAG,
    ...YES_FLAG,
  },
  isStream: true,
  async run(input) {
    const { operands: skus, flags, io, isJson, out, note } = input;
    const ids = splitList(flags['id'] ?? '');
    if ((skus.length === 0) === (ids.length === 0)) {
      throw new UsageError('Name the products: either SKU... or --id ID,...');
    }
    const { products: client } = openClient(input);
    const products = await (ids.length > 0 ? findProducts(client, 'id', ids)
      : findProducts(client, 'sku', skus));
    if (flags['if-match'] !== undefined && products.length > 1) {
      throw new UsageError('--if-match is for one product.');
    }
    const options = readIfMatch(flags);
    const names = products.slice(0, PRODUCTS_NAMED).map(({ sku, name }) => `${sku} (${name})`);
    const others = products.length - names.length;
    if (others > 0) names.push(`${formatCount(others)} more`);
    const count = formatCounted(products.length, 'product');
    await confirm(input, `Delete ${count}: ${names.join(', ')}?`);
    let isInterrupted = false;
    io.once('SIGINT', () => { // a second one ends the process
      isInterrupted = true;
      note('Stopping after the current product.');
    });
    for (const [index, { id, sku, name }] of products.entries()) {
      if (isInterrupted) {
        const detail = `Interrupted. ${formatCount(index)} of ${count} were deleted. Next: ${sku}.`;
        throw new CommandFailure(detail, { exitStatus: 130 });
      }
      await client.delete(id, options);
      out(isJson ? JSON.stringify({ id, sku, name }) : printable(`Deleted ${sku} (${name}).`));
    }
  },
});

type FoundProduct = Pick<Product, 'id' | 'sku' | 'name'>;

/** Each once. @throws CommandFailure that names a missing one */
async function findProducts(
  client: SellerClient['products'], member: 'id' | 'sku', names: readonly string[],
): Promise<readonly FoundProduct[]> {
  const products = new Map<string, FoundProduct>();
  for (let start = 0; start < names.length; start += LOOKUP_QUERIES_LIMIT) {
    const part = names.slice(start, start + LOOKUP_QUERIES_LIMIT);
    // The cast: each query has this one member.
    const queries = part.map((name) => ({ [member]: name }) as ProductLookup);
    const { results } = await client.lookup(queries, { fields: ['id', 'sku', 'name'] });
    for (const [index, [product]] of results.entries()) {
      if (product) products.set(product.id, product);
      else throw new CommandFailure(`There is no product ${part[index]}. Nothing was deleted.`);
    }
  }
  return [...products.values()];
}

function readIfMatch(flags: Input['flags']): VersionOptions {
  return flags['if-match'] === undefined ? {} : { ifMatch: readPosition(flags, 'if-match') };
}

/** Prints products as NDJSON or in a table. */
function createPrinter({ flags, io, isJson, out }: Input): (rows: readonly object[]) => void {
  const { fields } = flags;
  const table = new Table(io.stdout, fields === undefined ? COLUMNS : splitList(fields));
  return (rows) => {
    if (rows.length === 0) return;
    out(isJson ? rows.map((row) => JSON.stringify(row)).join('\n') : table.format(rows));
  };
}

function describeProduct(product: Product) {
  return { document: product, text: formatMembers(product) };
}

/** The server parses the value. @throws UsageError */
function parseLookup(assignment: string): ProductLookup {
  const [name, value] = splitAssignment(assignment);
  if (name.startsWith(PAIR_PREFIX)) {
    return { metadata: { [name.slice(PAIR_PREFIX.length)]: value } };
  }
  // The cast is what the check proves.
  if (LOOKUP_MEMBERS.includes(name)) return { [name]: value } as unknown as ProductLookup;
  const members = `${LOOKUP_MEMBERS.join(', ')} or ${PAIR_PREFIX}NAME`;
  throw new UsageError(`Products are looked up by ${members}, not by "${name}".`);
}

/** @throws UsageError */
function parseMembers(assignments: readonly string[]): ProductPatch {
  const members: Record<string, unknown> = {};
  const pairs = new Map<string, string | null>();
  for (const assignment of assignments) {
    const [, name = assignment, value = ''] = /^([^=]*)=(.*)$/s.exec(assignment) ?? [];
    if (name.startsWith(PAIR_PREFIX) && assignment.includes('=')) {
      if (pairs.has(name)) throw new UsageError(`${name} is given twice.`);
      pairs.set(name, value === '' ? null : value);
      continue;
    }
    const field = SENT_FIELDS.find((candidate) =>
      candidate.name === name && candidate.kind !== 'pairs');
    if (!field || !assignment.includes('=')) throw explainAssignment(assignment, name);
    if (Object.hasOwn(members, name)) throw new UsageError(`${name} is given twice.`);
    members[name] = value === '' && !field.isRequired ? null : parseMember(field, value);
  }
  const metadata = [...pairs].map(([name, value]) => [name.slice(PAIR_PREFIX.length), value]);
  // The server validates the values.
  return { ...members, ...(pairs.size > 0 && { metadata: Object.fromEntries(metadata) }) };
}

function parseMember({ name, kind }: SentField, value: string): string | number | boolean {
  if (kind === 'text' || kind === 'paragraphs') return value;
  if (kind !== 'flag') return parseNumber(name, value);
  if (value === 'true' || value === 'false') return value === 'true';
  throw new UsageError(`${name}=${value}: Must be true or false.`);
}

function explainAssignment(assignment: string, name: string): UsageError {
  const nearest = findNearest(name, MEMBERS) ?? (MEMBERS.includes(name) ? name : undefined);
  const hint = nearest === undefined ? `Members are: ${MEMBERS.join(', ')}.`
    : `Did you mean ${nearest}=VALUE?`;
  return new UsageError(`"${assignment}" does not set a member of a product. ${hint}`);
}

function parseNumber(name: string, text: string): number {
  const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text);
  const detail = isNumber ? validateNumberText(text)?.detail
    : 'Must be a number such as 12.50, with a point and no thousands separator.';
  if (detail === undefined) return Number(text);
  throw new UsageError(`${name}=${text}: ${detail}`);
}

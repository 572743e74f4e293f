/**
 * The rows of NDJSON: one product a line. A line may leave out members of a product that exists; it
 * may not have null or a blank text for them. The members that only our own export has are ignored.
 */
import type { Currency } from '../domain/catalogue/currency.ts';
import { DEFAULTABLE } from './columns.ts';
import {
  findCurrencyIssue, type ImportRow, missingMember, parseContent, type RowContent, type RowReader,
} from './import-row.ts';
import { type JsonLine, NdjsonLines } from './ndjson-lines.ts';

export class NdjsonRows implements RowReader {
  readonly ignoredColumns = [];
  readonly #currency: Currency;
  readonly #lines = new NdjsonLines();

  constructor(currency: Currency) {
    this.#currency = currency;
  }

  read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ImportRow[], void, void> {
    return this.#lines.read(chunks, (line) => this.#parse(line));
  }

  #parse({ line, characters, ...sent }: JsonLine): ImportRow {
    const row = { line, characters };
    if ('issues' in sent) return { ...row, sku: null, content: { issues: sent.issues } };
    const { value } = sent;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const issue = { pointer: '', code: 'type', detail: 'Must be an object.' } as const;
      return { ...row, sku: null, content: { issues: [issue] } };
    }
    // Any object can be read by name: what it holds stays unknown.
    const members = value as Readonly<Record<string, unknown>>;
    const sku = typeof members['sku'] === 'string' ? members['sku'] : null;
    return { ...row, sku, content: this.#parseContent(members) };
  }

  #parseContent(members: Readonly<Record<string, unknown>>): RowContent {
    const { id, position, created_at, updated_at, currency, ...own } = members;
    const issue = currency === undefined ? undefined : findCurrencyIssue(currency, this.#currency);
    const missing = DEFAULTABLE.filter((member) => !Object.hasOwn(own, member))
      .map((member) => missingMember(member, 'required'));
    const leftOut = missing.length > 0 ? { defaults: {}, missing } : undefined;
    return parseContent(own, issue ? [issue] : [], this.#currency, leftOut);
  }
}

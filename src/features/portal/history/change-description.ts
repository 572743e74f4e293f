/** Describes a change in words: changed fields, stock movement, reason and source. */
import type { Change } from '../../../domain/catalogue/change.ts';
import { parseSnapshot } from '../../../domain/catalogue/product.ts';
import { type NewProduct, SENT_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import { type Format, formatField } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { REASON_BYTES, SOURCE_BYTES } from '../limits.ts';
import type { PageRequest } from '../route.ts';

/** Limits on texts, which bound the size of a page. */
const [NAME_BYTES, TEXT_BYTES] = [100, 70];

/** @param before The product's previous snapshot, if known. */
export function describeChange(
  request: PageRequest, change: Change, before: string | undefined,
): Html {
  const { reason, source } = change.movement;
  const why = [
    reason !== undefined && html`Reason: <bdi>${shorten(reason, REASON_BYTES)}</bdi>`,
    source !== undefined && html`Source: <bdi>${shorten(source, SOURCE_BYTES)}</bdi>`,
  ].filter((part) => part !== false);
  return html`<ul class="lines">${describeEffects(request, change, before).map((effect) => html`
    <li>${effect}</li>`)}${why.length > 0 && html`
    <li class="quiet why">${why.map((part) => html`<span>${part}</span> `)}</li>`}
  </ul>`;
}

/** One line for each effect; none if nothing is known. */
export function describeEffects(
  request: PageRequest, { type, movement, product }: Change, before: string | undefined,
  nameBytes = NAME_BYTES,
): readonly Content[] {
  const { account: { currency }, format } = request;
  const moved = movement.before === movement.after ? []
    : [html`Stock: ${format.number(movement.before)} → ${format.number(movement.after)}
      (${format.delta(movement.after - movement.before)})`];
  if (product === undefined) return moved;
  const after = parseSnapshot(product, currency);
  if (type === 'updated' && before !== undefined) {
    return [...compare(format, parseSnapshot(before, currency), after, nameBytes), ...moved];
  }
  const { name, category, priceMinor } = after;
  const summary = html`<bdi>${shorten(name, nameBytes)}</bdi>, <bdi>${
    shorten(category, TEXT_BYTES)}</bdi>, ${format.money(priceMinor)}`;
  if (type === 'updated') return [html`Updated; now: ${summary}`, ...moved];
  const stock = format.number(type === 'created' ? movement.after : movement.before);
  return [html`${type === 'created' ? 'Created' : 'Deleted'}: ${summary}, stock ${stock}`];
}

function compare(
  format: Format, before: NewProduct, after: NewProduct, nameBytes: number,
): readonly Html[] {
  const changed = SENT_FIELDS.filter(({ name, member }) =>
    name !== 'stock' && (before[member] ?? null) !== (after[member] ?? null));
  return changed.map((field) => {
    // Long texts and pairs would hide the other changes.
    if (field.kind === 'paragraphs' || field.kind === 'pairs') return html`${field.label} changed`;
    if (field.kind === 'flag') return html`${after[field.member] ? field.label : 'Restored'}`;
    const limitBytes = field.name === 'name' ? nameBytes : TEXT_BYTES;
    const [was, is] = [before, after].map((product) =>
      html`<bdi>${shorten(formatField(format, field, product), limitBytes)}</bdi>`);
    return html`${field.label}: ${was} → ${is}`;
  });
}

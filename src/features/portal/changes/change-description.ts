/** What a change did, in words: what the product was and is, how its stock moved, and why. */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { parseSnapshot } from '../../../domain/catalogue/product.ts';
import { type NewProduct, SENT_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import { type Format, formatField } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { REASON_BYTES, SOURCE_BYTES } from '../limits.ts';

/** So that a page of the longest texts has its bound. */
const [NAME_BYTES, TEXT_BYTES] = [120, 80];

interface FormatContext {
  readonly format: Format;
  readonly currency: Currency;
}

/** `before` is the JSON of the product as it was last described before, if that is known. */
export function describeChange(
  context: FormatContext, change: Change, before: string | undefined,
): Html {
  const { reason, source } = change.movement;
  const why = [
    reason !== undefined && html`Reason: <bdi>${shorten(reason, REASON_BYTES)}</bdi>`,
    source !== undefined && html`Source: <bdi>${shorten(source, SOURCE_BYTES)}</bdi>`,
  ].filter((part) => part !== false);
  return html`<ul class="lines">${describeEffects(context, change, before).map((effect) => html`
    <li>${effect}</li>`)}${why.length > 0 && html`
    <li class="quiet why">${why.map((part) => html`<span>${part}</span> `)}</li>`}
  </ul>`;
}

function describeEffects(
  context: FormatContext, { type, movement, product }: Change, before: string | undefined,
): readonly Content[] {
  const { format } = context;
  const moved = movement.before === movement.after ? []
    : [html`Stock: ${format.number(movement.before)} → ${format.number(movement.after)}
      (${format.delta(movement.after - movement.before)})`];
  if (product === undefined) return moved;
  const after = parseSnapshot(product, context.currency);
  if (type === 'updated') {
    if (before === undefined) return [html`Updated; now: ${summarize(context, after)}`, ...moved];
    return [...compare(context, parseSnapshot(before, context.currency), after), ...moved];
  }
  const stock = format.number(type === 'created' ? movement.after : movement.before);
  const did = type === 'created' ? 'Created' : 'Deleted';
  return [html`${did}: ${summarize(context, after)}, stock ${stock}`];
}

function summarize({ format }: FormatContext, { name, category, priceMinor }: NewProduct): Html {
  return html`<bdi>${shorten(name, NAME_BYTES)}</bdi>, <bdi>${
    shorten(category, TEXT_BYTES)}</bdi>, ${format.money(priceMinor)}`;
}

function compare(
  { format }: FormatContext, before: NewProduct, after: NewProduct,
): readonly Html[] {
  const changed = SENT_FIELDS.filter(({ name, member }) =>
    name !== 'stock' && (before[member] ?? null) !== (after[member] ?? null));
  return changed.map((field) => {
    const limitBytes = field.name === 'name' ? NAME_BYTES : TEXT_BYTES;
    const show = (product: NewProduct): Html =>
      html`<bdi>${shorten(formatField(format, field, product), limitBytes)}</bdi>`;
    return html`${field.label}: ${show(before)} → ${show(after)}`;
  });
}

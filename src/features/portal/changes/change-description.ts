/** What a change did, in words: what the product was and is, how its stock moved, and why. */
import type { Change } from '../../../domain/catalogue/change.ts';
import { type Currency, toMinorUnits } from '../../../domain/catalogue/currency.ts';
import type { Format } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { REASON_BYTES, SOURCE_BYTES } from '../limits.ts';

/** So that a page of the longest texts has its bound. */
const [NAME_BYTES, CATEGORY_BYTES, SKU_BYTES] = [120, 80, 80];

interface FormatContext {
  readonly format: Format;
  readonly currency: Currency;
}

/** What the history keeps of a product, of which the parts here are shown. */
interface Described {
  readonly name: string;
  readonly category: string;
  readonly sku: string;
  readonly price: number;
}

/** `before` is the JSON of the product as it was last described before, if that is known. */
export function describeChange(
  taste: FormatContext, change: Change, before: string | undefined,
): Html {
  const { reason, source } = change.movement;
  const why = [
    reason !== undefined && html`Reason: <bdi>${shorten(reason, REASON_BYTES)}</bdi>`,
    source !== undefined && html`Source: <bdi>${shorten(source, SOURCE_BYTES)}</bdi>`,
  ].filter((part) => part !== false);
  return html`<ul class="lines">${describeEffects(taste, change, before).map((effect) => html`
    <li>${effect}</li>`)}${why.length > 0 && html`
    <li class="quiet why">${why.map((part) => html`<span>${part}</span> `)}</li>`}
  </ul>`;
}

function describeEffects(
  taste: FormatContext, { type, movement, product }: Change, before: string | undefined,
): readonly Content[] {
  const { format } = taste;
  const moved = movement.before === movement.after ? []
    : [html`Stock: ${format.number(movement.before)} → ${format.number(movement.after)}
      (${format.delta(movement.after - movement.before)})`];
  if (product === undefined) return moved;
  const after = parseDescribed(product);
  if (type === 'updated') {
    if (before === undefined) return [html`Updated; now: ${tell(taste, after)}`, ...moved];
    return [...compare(taste, parseDescribed(before), after), ...moved];
  }
  const stock = format.number(type === 'created' ? movement.after : movement.before);
  const did = type === 'created' ? 'Created' : 'Deleted';
  return [html`${did}: ${tell(taste, after)}, stock ${stock}`];
}

function tell(taste: FormatContext, { name, category, price }: Described): Html {
  return html`<bdi>${shorten(name, NAME_BYTES)}</bdi>, <bdi>${
    shorten(category, CATEGORY_BYTES)}</bdi>, ${formatPrice(taste, price)}`;
}

function compare(taste: FormatContext, before: Described, after: Described): readonly Html[] {
  const members: readonly (readonly [label: string, name: keyof Described, bytes: number])[] = [
    ['Name', 'name', NAME_BYTES], ['Category', 'category', CATEGORY_BYTES],
    ['SKU', 'sku', SKU_BYTES], ['Price', 'price', 0],
  ];
  return members.filter(([, name]) => before[name] !== after[name]).map(([label, name, bytes]) => {
    const show = (product: Described): Content => name === 'price'
      ? formatPrice(taste, product.price) : html`<bdi>${shorten(product[name], bytes)}</bdi>`;
    return html`${label}: ${show(before)} → ${show(after)}`;
  });
}

function formatPrice({ format, currency }: FormatContext, price: number): string {
  const minor = toMinorUnits(price, currency);
  return minor === undefined ? String(price) : format.money(minor);
}

/** Written by `formatProduct`, which is what the cast says. */
function parseDescribed(json: string): Described {
  return JSON.parse(json) as Described;
}

/**
 * Plots a product's stock over time, with the reason of each movement on hover; the stock ledger on
 * the same page is its table.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/time.ts';
import {
  CHART_HEIGHT, CHART_WIDTH, csvLink, findTicks, renderChart, round,
} from '../html/chart.ts';
import type { Format } from '../html/format.ts';
import { html, type Html, shorten } from '../html/html.ts';

/** The stock from a time on, in milliseconds since 1970. */
interface Step {
  readonly at: number;
  readonly stock: number;
  /** What moved it, for people to read. */
  readonly title: string;
}

/** A product and its movements, newest first. */
interface StockHistory {
  readonly product: Pick<Product, 'createdAt'>;
  readonly movements: readonly Pick<Change, 'at' | 'movement'>[];
  readonly now: number;
  /** The link to all movements as CSV, if there is one. */
  readonly csv: string | undefined;
}

const RECENT_MS = 30 * DAY_MS;
/** With fewer recent movements, the plot shows all of them. */
const RECENT_MIN = 3;
const SPAN_MIN_MS = MINUTE_MS;
/** Narrower steps are hard to point at; there are at most 60 wider ones. */
const SPOT_MIN = CHART_WIDTH / 60;
const TITLE_REASON_BYTES = 60;

/** Undefined without stock movements. */
export function stockPlot(history: StockHistory, format: Format): Html | undefined {
  const steps = findSteps(history, format);
  const [first] = steps;
  const last = steps.at(-1);
  if (!first || !last) return undefined;
  const end = Math.max(history.now, last.at, first.at + SPAN_MIN_MS);
  const stocks = steps.map(({ stock }) => stock);
  const ticks = findTicks(Math.max(...stocks));
  const x = (at: number): number => round(CHART_WIDTH * (at - first.at) / (end - first.at));
  const y = (stock: number): number =>
    round(CHART_HEIGHT * (1 - stock / (ticks.at(-1) ?? 1)));
  const line = steps.map(({ at, stock }, index) =>
    index === 0 ? `M${x(at)} ${y(stock)}` : `H${x(at)}V${y(stock)}`).join('') + `H${x(end)}`;
  const [least, most] = [Math.min(...stocks), Math.max(...stocks)].map(format.number);
  const write = end - first.at < 3 * DAY_MS ? format.minute : format.day;
  const chart = renderChart({
    label: `Stock over time, from ${format.time(first.at)} to ${format.time(end)}: minimum ${
      least}, maximum ${most}, ${format.number(last.stock)} at the end. Each movement is in the `
      + 'table.',
    yLabels: ticks.map(format.number).toReversed(),
    xLabels: [...new Set([first.at, (first.at + end) / 2, end].map(write))],
    drawing: html`<path class="line" d="${line}"/>${steps.map(({ at, title }, index) => {
      const width = round(x(steps[index + 1]?.at ?? end) - x(at));
      return width >= SPOT_MIN && html`<rect class="spot" x="${x(at)}" y="0" width="${width}"
        height="${CHART_HEIGHT}"><title>${title}</title></rect>`;
    })}`,
  });
  return html`${chart}${history.csv !== undefined && csvLink(history.csv)}`;
}

/** The last 30 days if they have enough movements, otherwise all movements. */
function findSteps({ product, movements, now }: StockHistory, format: Format): readonly Step[] {
  const recent = movements.filter(({ at }) => at >= now - RECENT_MS);
  const isRecent = recent.length >= RECENT_MIN && recent.length < movements.length;
  const plotted = isRecent ? recent : movements;
  const oldest = plotted.at(-1);
  if (!oldest) return [];
  const steps = plotted.map(({ at, movement: { before, after, reason } }) => ({
    at, stock: after,
    title: `${format.minute(at)}: ${format.number(before)} → ${format.number(after)} (${
      format.delta(after - before)})${
      reason === undefined ? '' : `, ${shorten(reason, TITLE_REASON_BYTES)}`}`,
  })).reverse();
  if (!isRecent) return steps;
  const { before } = oldest.movement;
  const since = Math.max(now - RECENT_MS, product.createdAt);
  return [{ at: since, stock: before, title: format.number(before) }, ...steps];
}

/**
 * A bar chart over days or hours as inline SVG: one series is above the axis (stock in, successful
 * requests), the other below it. A table shows the same values.
 */
import { numeric, table } from './elements.ts';
import { type Content, html, type Html } from './html.ts';

interface BarPlot {
  /** The accessible name. */
  readonly title: string;
  /** The unit of time of one bar, such as `Day`. */
  readonly unit: string;
  readonly names: { readonly up: string; readonly down: string };
  /** Values are zero or more; both series share one scale. */
  readonly bars: readonly { readonly label: string; readonly up: number; readonly down: number }[];
  readonly number: (value: number) => string;
}

// In SVG units; the drawing scales to the width of the page.
const [WIDTH, HEIGHT] = [360, 150];
const [LEFT, TOP, BOTTOM] = [2, 18, 22];
const GAP_SHARE = 0.2;
const LABELS_LIMIT = 5;
// Estimated for phones, where the text is largest.
const CHARACTER_WIDTH = 9;
const WIDE_CHARACTER_WIDTH = 16;
const LABEL_GAP = 8;

export function barPlot({ title, unit, names, bars, number }: BarPlot): Html {
  const [ups, downs] = [bars.map(({ up }) => up), bars.map(({ down }) => down)];
  const [mostUp, mostDown] = [Math.max(...ups), Math.max(...downs)];
  if (mostUp + mostDown === 0) return html`<p class="quiet">No activity in this period.</p>`;
  const [sumUp, sumDown] = [ups, downs].map((values) =>
    number(values.reduce((sum, value) => sum + value, 0)));

  const room = HEIGHT - TOP - BOTTOM - (mostDown > 0 ? TOP : 0);
  const scale = room / (mostUp + mostDown);
  const axis = TOP + mostUp * scale;
  const step = (WIDTH - 2 * LEFT) / bars.length;
  const x = (index: number): number => round(LEFT + index * step);
  // A value above zero stays visible: its bar is at least one unit high.
  const rectangle = (name: 'in' | 'out', index: number, value: number): Content => {
    const height = Math.max(value * scale, 1);
    return value > 0 && html`<rect class="${name}" x="${x(index)}" y="${
      round(name === 'in' ? axis - height : axis)}" width="${
      round(step * (1 - GAP_SHARE))}" height="${round(height)}"/>`;
  };
  const widest = Math.max(...bars.map(({ label }) => measureLabel(label)));
  const every = Math.ceil(bars.length / Math.min(LABELS_LIMIT, Math.floor(WIDTH / widest)));
  return html`<p class="row middle quiet">
      <span><span class="key in"></span> ${names.up}: ${sumUp}</span>
      <span><span class="key out"></span> ${names.down}: ${sumDown}</span></p>
    <svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}"
      role="img" aria-label="${title}: ${names.up} ${sumUp}, ${names.down} ${sumDown}">
      ${axisLine(LEFT, WIDTH - LEFT, axis)}
      ${bars.map(({ label, up, down }, index) => html`<g>${rectangle('in', index, up)}${
    rectangle('out', index, down)}<title>${label}: ${number(up)}, ${number(down)}</title></g>`)}
      ${bars.map(({ label }, index) => index % every === 0 && x(index) + widest <= WIDTH
    && html`<text x="${x(index)}" y="${HEIGHT - 6}">${label}</text>`)}
      ${mostUp > 0 && html`<text x="${LEFT}" y="${TOP - 6}">${number(mostUp)}</text>`}
      ${mostDown > 0 && html`<text x="${LEFT}" y="${HEIGHT - BOTTOM - 4}">${
    number(mostDown)}</text>`}
    </svg>
    <details><summary>View as table</summary>${table({
    caption: `${title}, as table`,
    columns: [unit, numeric(names.up), numeric(names.down)],
    rows: bars.filter(({ up, down }) => up + down > 0).map(({ label, up, down }) =>
      [label, number(up), number(down)]),
  })}</details>`;
}

/** A horizontal grid line. */
export function axisLine(left: number, right: number, y: number): Html {
  const at = round(y);
  return html`<line class="axis" x1="${left}" x2="${right}" y1="${at}" y2="${at}"/>`;
}

/** More than one decimal makes no visible difference. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * Estimates the width of a label and the gap after it, so charts can omit labels that would
 * overlap. East Asian characters are as wide as they are high.
 */
export function measureLabel(text: string): number {
  const widths = [...text].map((character) =>
    character >= '\u2e80' ? WIDE_CHARACTER_WIDTH : CHARACTER_WIDTH);
  return widths.reduce((sum, width) => sum + width, LABEL_GAP);
}

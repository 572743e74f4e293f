/**
 * A bar chart over days or hours, as inline SVG: one series rises above the axis (stock in,
 * requests that succeeded), the other hangs below it. The same values are available as a table.
 */
import { numeric, table } from './elements.ts';
import { type Content, html, type Html } from './html.ts';

interface Bar {
  readonly label: string;
  /** Zero or more; both series share one scale. */
  readonly up: number;
  readonly down: number;
}

interface BarPlot {
  /** The accessible name. */
  readonly title: string;
  /** What a bar stands for, such as `Day`. */
  readonly unit: string;
  readonly names: { readonly up: string; readonly down: string };
  readonly bars: readonly Bar[];
  readonly number: (value: number) => string;
}

// In units of the drawing, which scales to the width of the page.
const WIDTH = 360;
const HEIGHT = 150;
const LEFT = 2;
const TOP = 18;
const BOTTOM = 22;
const GAP_SHARE = 0.2;
const LABELS_LIMIT = 5;
// On phones, where the text is largest.
const CHARACTER_WIDTH = 9;
const WIDE_CHARACTER_WIDTH = 16;
const LABEL_GAP = 8;

export function barPlot(plot: BarPlot): Html {
  const { title, names, bars, number } = plot;
  const [up, down] = [greatest(bars, 'up'), greatest(bars, 'down')];
  if (up + down === 0) return html`<p class="quiet">No activity in this period.</p>`;
  const total = (of: 'up' | 'down'): number => bars.reduce((sum, bar) => sum + bar[of], 0);
  const sums = `${names.up} ${number(total('up'))}, ${names.down} ${number(total('down'))}`;
  return html`<p class="row middle quiet">
      <span><span class="key in"></span> ${names.up}: ${number(total('up'))}</span>
      <span><span class="key out"></span> ${names.down}: ${number(total('down'))}</span></p>
    <svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: ${sums}">
      ${renderBars(plot, up, down)}
    </svg>
    <details><summary>View as table</summary>${renderTable(plot)}</details>`;
}

function renderBars({ bars, number }: BarPlot, up: number, down: number): Html {
  const room = HEIGHT - TOP - BOTTOM - (down > 0 ? TOP : 0);
  const scale = room / (up + down);
  const axis = TOP + up * scale;
  const step = (WIDTH - 2 * LEFT) / bars.length;
  const width = step * (1 - GAP_SHARE);
  const widest = Math.max(...bars.map(({ label }) => measureLabel(label)));
  const every = Math.ceil(bars.length / Math.min(LABELS_LIMIT, Math.floor(WIDTH / widest)));
  return html`${renderAxis(axis)}
    ${bars.map((bar, index) => {
    const x = LEFT + index * step;
    return html`<g>${rectangle('in', x, axis - bar.up * scale, width, bar.up * scale)}${
      rectangle('out', x, axis, width, bar.down * scale)}<title>${bar.label}: ${number(bar.up)}, ${
      number(bar.down)}</title></g>`;
  })}
    ${bars.map(({ label }, index) => index % every === 0 && LEFT + index * step + widest <= WIDTH
    && html`<text x="${round(LEFT + index * step)}" y="${HEIGHT - 6}">${label}</text>`)}
    ${up > 0 && html`<text x="${LEFT}" y="${TOP - 6}">${number(up)}</text>`}
    ${down > 0 && html`<text x="${LEFT}" y="${HEIGHT - BOTTOM - 4}">${number(down)}</text>`}`;
}

function renderAxis(y: number): Html {
  const at = round(y);
  return html`<line class="axis" x1="${LEFT}" x2="${WIDTH - LEFT}" y1="${at}" y2="${at}"/>`;
}

/** A value above zero stays visible: its bar is at least one unit high. */
function rectangle(
  name: string, x: number, y: number, width: number, height: number,
): Content {
  if (height === 0) return undefined;
  const [left, top] = [round(x), round(name === 'in' ? Math.min(y, y + height - 1) : y)];
  return html`<rect class="${name}" x="${left}" y="${top}" width="${round(width)}" height="${
    round(Math.max(height, 1))}"/>`;
}

function renderTable({ title, unit, names, bars, number }: BarPlot): Html {
  return table({
    caption: `${title}, as table`,
    columns: [unit, numeric(names.up), numeric(names.down)],
    rows: bars.filter(({ up, down }) => up + down > 0).map(({ label, up, down }) =>
      [label, number(up), number(down)]),
  });
}

function greatest(bars: readonly Bar[], of: 'up' | 'down'): number {
  return bars.reduce((most, bar) => Math.max(most, bar[of]), 0);
}

/** More decimals than one make no visible difference. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * Estimates the width of a label and the gap after it, so that a chart can omit labels that would
 * overlap. East Asian characters are as wide as they are high.
 */
export function measureLabel(text: string): number {
  const widths = [...text].map((character) =>
    character >= '\u2e80' ? WIDE_CHARACTER_WIDTH : CHARACTER_WIDTH);
  return widths.reduce((sum, width) => sum + width, LABEL_GAP);
}

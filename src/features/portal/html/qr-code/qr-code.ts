/**
 * A QR code as inline SVG. Phones need dark modules on a light ground with a margin (ISO/IEC 18004,
 * section 6.3.8), so it has its own colors in every theme.
 */
import { html, type Html } from '../html.ts';
import { encodeText } from './codewords.ts';
import { drawModules } from './modules.ts';

/** The quiet zone, in modules. */
const MARGIN = 4;

/** Undefined if the text is too long: over 412 bytes. @param title The accessible name. */
export function qrCode(title: string, text: string): Html | undefined {
  const encoded = encodeText(text);
  if (!encoded) return undefined;
  const modules = drawModules(encoded.version, encoded.codewords);
  const size = modules.length + 2 * MARGIN;
  // One rectangle for each run of dark modules in a row.
  const path = modules.flatMap((row, y) =>
    [...row.map((isDark) => isDark ? '1' : '0').join('').matchAll(/1+/g)].map(({ index, 0: run }) =>
      `M${index + MARGIN} ${y + MARGIN}h${run.length}v1h-${run.length}z`)).join('');
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${title}"
    shape-rendering="crispEdges"><title>${title}</title>
    <rect width="${size}" height="${size}" fill="#ffffff"/><path d="${path}"/></svg>`;
}

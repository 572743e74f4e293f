/**
 * Painted colours: blends the backgrounds and opacities of all ancestors, and computes the contrast
 * of two colours (WCAG 2.2, "relative luminance"). These functions run in the page.
 */

/** Red, green, blue from 0 to 255, and alpha from 0 to 1. */
export type Colour = readonly [number, number, number, number];

/** Reads any CSS colour; the browser itself paints it. */
export function makeColourReader(): (css: string) => Colour {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  if (!canvas) throw new Error('No canvas to read colours with');
  const known = new Map<string, Colour>();
  return (css) => {
    const colour = known.get(css);
    if (colour) return colour;
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    known.set(css, [red, green, blue, alpha / 255]);
    return [red, green, blue, alpha / 255];
  };
}

/** Blends a colour over an opaque one. */
export function paintOver(top: Colour, below: Colour, opacity = 1): Colour {
  const alpha = top[3] * opacity;
  const mix = (a: number, b: number) => a * alpha + b * (1 - alpha);
  return [mix(top[0], below[0]), mix(top[1], below[1]), mix(top[2], below[2]), 1];
}

/** The canvas of the browser: white, or nearly black in a dark `color-scheme`. */
export function readCanvasColour(read: (css: string) => Colour): Colour {
  const probe = document.createElement('i');
  probe.style.backgroundColor = 'Canvas';
  document.documentElement.append(probe);
  const colour = read(getComputedStyle(probe).backgroundColor);
  probe.remove();
  return colour;
}

/**
 * The visible background of an element, or of `ink` on it. An element is painted with its content
 * first, then its opacity applies to the whole.
 */
export function paintElement(
  element: Element, read: (css: string) => Colour, canvas: Colour, ink?: Colour,
): Colour {
  const chain: CSSStyleDeclaration[] = [];
  for (let at: Element | null = element; at; at = at.parentElement) {
    chain.unshift(getComputedStyle(at));
  }
  const paint = (index: number, below: Colour): Colour => {
    const style = chain[index];
    if (!style) return ink ? paintOver(ink, below) : below;
    const inside = paint(index + 1, paintOver(read(style.backgroundColor), below));
    return paintOver(inside, below, Number(style.opacity));
  };
  return paint(0, canvas);
}

/** From 1 to 21. */
export function contrastOf(one: Colour, other: Colour): number {
  const luminance = (colour: Colour) => {
    const [red = 0, green = 0, blue = 0] = colour.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** `2.99:1`; rounded down, so that a failing ratio never looks like a passing one. */
export function writeRatio(ratio: number): string {
  return `${(Math.floor(ratio * 100) / 100).toFixed(2)}:1`;
}

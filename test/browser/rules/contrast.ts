/** Contrast rules: text (WCAG 2.2, SC 1.4.3) and the borders of controls (SC 1.4.11). */
import {
  type Colour, contrastOf, makeColourReader, paintElement, paintOver, readCanvasColour, writeRatio,
} from './colour.ts';
import { describeElement, isVisible } from './element.ts';

/** Text has 4.5:1, large text 3:1; disabled text is exempt. */
export function findFaintTexts(): string[] {
  const read = makeColourReader();
  const canvas = readCanvasColour(read);
  const violations = findInks().map(({ element, style, what }) => {
    const name = describeElement(element);
    if (hasImageBehind(element, read)) return `text on an image: ${name}`;
    const background = paintElement(element, read, canvas);
    const [red, green, blue, alpha] = read(style.color);
    // A placeholder has its own opacity; `paintElement` already applies that of elements.
    const ink = [red, green, blue, what ? alpha * Number(style.opacity) : alpha] as const;
    const ratio = contrastOf(paintElement(element, read, canvas, ink), background);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const wanted = isLarge ? 3 : 4.5;
    return ratio >= wanted ? ''
      : `${what || 'text'} of ${writeRatio(ratio)}, not ${wanted}:1: ${name}`;
  });
  // A paragraph with links contains several texts.
  return [...new Set(violations)].filter(Boolean);
}

/** Every visible text with its style. */
export function findInks(): { element: Element; style: CSSStyleDeclaration; what: string }[] {
  const isActive = (element: Element) => !element.closest(':disabled, [aria-disabled="true"]')
    && !element.closest('label')?.control?.matches(':disabled');
  const written = new Set<Element>();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (element && /\S/.test(text.nodeValue ?? '')) written.add(element);
  }
  const drawn = '[type="hidden"], [type="checkbox"], [type="radio"], [type="range"], '
    + '[type="color"], [type="image"]';
  const controls = [...document.querySelectorAll(`input:not(${drawn}), select, textarea`)];
  const inked = [...written, ...controls]
    .filter((element) => isActive(element) && isVisible(element));
  return inked.flatMap((element) => {
    const own = { element, style: getComputedStyle(element), what: '' };
    if (!element.matches(':placeholder-shown[placeholder]')) return [own];
    return [{ element, style: getComputedStyle(element, '::placeholder'), what: 'placeholder' }];
  });
}

/** Whether an image is behind the text; the arrow of a `<select>` is beside it. */
export function hasImageBehind(element: Element, read: (css: string) => Colour): boolean {
  for (let at: Element | null = element; at; at = at.parentElement) {
    const { backgroundImage, backgroundColor } = getComputedStyle(at);
    if (backgroundImage !== 'none' && !at.matches('select')) return true;
    if (read(backgroundColor)[3] === 1) return false;
  }
  return false;
}

/** The border or the background of a field has 3:1 against its surroundings. */
export function findFaintFields(): string[] {
  const read = makeColourReader();
  const canvas = readCanvasColour(read);
  const native = '[type="hidden"], [type="range"], [type="color"], [type="file"], '
    + '[type="submit"], [type="reset"], [type="button"], [type="image"]';
  const fields = [...document.querySelectorAll(`input:not(${native}), select, textarea`)];
  const visible = fields.filter((field) => !field.matches(':disabled') && isVisible(field));
  return visible.flatMap((field) => {
    const style = getComputedStyle(field);
    // Check boxes and radio buttons that the browser draws are exempt.
    const isDrawnByBrowser = field.matches('[type="checkbox"], [type="radio"]')
      && style.appearance !== 'none';
    if (isDrawnByBrowser || !field.parentElement) return [];
    const around = paintElement(field.parentElement, read, canvas);
    const filling = paintElement(field, read, canvas);
    const edges = (['Top', 'Right', 'Bottom', 'Left'] as const)
      .filter((side) => parseFloat(style[`border${side}Width`]) > 0)
      .map((side): Colour => paintOver(read(style[`border${side}Color`]), filling));
    const ratio = Math.max(...[filling, ...edges].map((colour) => contrastOf(colour, around)));
    if (ratio >= 3) return [];
    return [`field contrast of ${writeRatio(ratio)}, not 3:1: ${describeElement(field)}`];
  });
}

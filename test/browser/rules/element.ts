/**
 * Properties of elements that the rules use. These functions run in the page, like the rules:
 * `accessibility.ts` sends them there; they may call each other, but nothing outside this file.
 */

/** An element in a message: `<input id="sku" name="sku">` or `<p> "The first words"`. */
export function describeElement(element: Element): string {
  const attributes = ['id', 'name', 'type', 'class', 'href', 'for', 'src', 'role']
    .filter((name) => element.hasAttribute(name)).slice(0, 2)
    .map((name) => ` ${name}="${element.getAttribute(name)}"`);
  const text = (element.textContent ?? '').replace(/\s+/g, ' ').trim();
  const words = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  return `<${element.localName}${attributes.join('')}>${words && ` "${words}"`}`;
}

/** Whether it is rendered, even if only assistive technology perceives it. */
export function isRendered(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]');
}

/** Whether it is exposed to assistive technology. */
export function isExposed(element: Element): boolean {
  return isRendered(element) && !element.closest('[aria-hidden="true"]');
}

/** Whether it is visible: rendered, not clipped to a pixel, not moved off the page. */
export function isVisible(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
  for (let at: Element | null = element; at; at = at.parentElement) {
    const { width, height, right, bottom } = at.getBoundingClientRect();
    const { overflowX, clipPath } = getComputedStyle(at);
    if (overflowX !== 'visible' && (width <= 1 || height <= 1)) return false;
    if (clipPath === 'inset(50%)' || clipPath === 'inset(100%)') return false;
    if (at === element && (right + scrollX <= 0 || bottom + scrollY <= 0)) return false;
  }
  return true;
}

/** All exposed elements that match, in document order. */
export function findExposed(selector: string): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(selector)].filter(isExposed);
}

/** Finishes transitions, and animations that end, which would show intermediate colours. */
export function finishTransitions(): void {
  for (const animation of document.getAnimations()) {
    const { endTime = Infinity } = animation.effect?.getComputedTiming() ?? {};
    if (Number.isFinite(Number(endTime))) animation.finish();
  }
}

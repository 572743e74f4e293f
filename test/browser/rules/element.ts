/**
 * What the rules ask of an element. These functions run in the page, as the rules do: they are sent
 * there by `accessibility.ts`, may call each other and see nothing else of this file.
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

/** Whether it is rendered; also where it is only for assistive technology. */
export function isRendered(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]');
}

/** Whether assistive technology gets to know it. */
export function isExposed(element: Element): boolean {
  return isRendered(element) && !element.closest('[aria-hidden="true"]');
}

/** Whether it can be seen: rendered, not cut down to a pixel, not moved off the page. */
export function isSeen(element: Element): boolean {
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

/** All elements that match and are exposed, in the order of the document. */
export function findExposed(selector: string): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(selector)].filter(isExposed);
}

/** Ends what is under way: a colour on its way to another one would be judged half-way. */
export function finishTransitions(): void {
  for (const animation of document.getAnimations()) {
    if (animation instanceof CSSTransition) animation.finish();
  }
}

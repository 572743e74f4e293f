/** Size rules: targets (WCAG 2.2, SC 2.5.8) and reflow (SC 1.4.10). */
import { describeElement, isVisible } from './element.ts';

/** Buttons and links are at least 24 x 24 CSS pixels; links within text are exempt. */
export function findSmallTargets(): string[] {
  const selector = 'button, a[href], summary, input[type="submit"], input[type="button"], '
    + 'input[type="reset"], input[type="image"], input[type="checkbox"], input[type="radio"], '
    + 'select, [role="button"], [role="link"], [role="tab"], [role="menuitem"]';
  const isInText = (target: Element) => {
    if (getComputedStyle(target).display !== 'inline') return false;
    let block = target.parentElement;
    while (block && getComputedStyle(block).display === 'inline') block = block.parentElement;
    const rest = block?.cloneNode(true) as Element | undefined;
    for (const link of rest?.querySelectorAll('a, button') ?? []) link.remove();
    return /\p{L}/u.test(rest?.textContent ?? '');
  };
  return [...document.querySelectorAll(selector)].flatMap((target) => {
    const isOff = target.matches(':disabled') || target.closest('[inert]') !== null;
    if (isOff || !isVisible(target) || isInText(target)) return [];
    // The label of a control can be clicked too.
    const boxes = [target, ...(target as HTMLInputElement).labels ?? []]
      .map((element) => element.getBoundingClientRect());
    const width = Math.max(...boxes.map((box) => box.width));
    const height = Math.max(...boxes.map((box) => box.height));
    if (width >= 24 && height >= 24) return [];
    const size = `${Math.floor(width)} x ${Math.floor(height)}`;
    return [`target of ${size}, not 24 x 24: ${describeElement(target)}`];
  });
}

/** Only tables and code scroll horizontally, in a named, focusable region. */
export function findHorizontalScrolling(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  const elements = [...document.body.querySelectorAll<HTMLElement>('*')].filter(isVisible);
  const scrolls = (element: Element) => element.scrollWidth > element.clientWidth + 1
    && ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
  const sticksOut = (element: Element) =>
    element.getBoundingClientRect().right + scrollX > clientWidth + 0.5 && !isCutOff(element);
  const wide = elements.filter((element) =>
    sticksOut(element) && ![...element.children].some(sticksOut));
  const parts = elements.filter((element) => !element.matches('textarea') && scrolls(element));
  return [
    ...(scrollWidth > clientWidth
      ? [`page of ${scrollWidth} px in ${clientWidth} px: ${wide.map(describeElement).join(', ')}`]
      : []),
    ...parts.filter((part) => !part.querySelector('table, pre') && !part.matches('pre'))
      .map((part) => `scrolls horizontally: ${describeElement(part)}`),
    ...parts.filter((part) => part.getAttribute('tabindex') !== '0' || part.computedName === '')
      .map((part) => `scrolls, but is not focusable or has no name: ${describeElement(part)}`),
  ];
}

/** Whether an ancestor other than the page scrolls or clips its overflow. */
export function isCutOff(element: Element): boolean {
  for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
    if (getComputedStyle(at).overflowX !== 'visible') return true;
  }
  return false;
}

/**
 * Walks through a page with the Tab key, which must reach every control in document order, with a
 * visible focus indicator, and never be trapped (WCAG 2.2, SC 2.1.1, 2.1.2, 2.4.3, 2.4.7, 2.4.11).
 */
import type { Browser } from './browser.ts';
import {
  contrastOf, makeColourReader, paintElement, paintOver, readCanvasColour, writeRatio,
} from './rules/colour.ts';
import { describeElement, finishTransitions, isRendered } from './rules/element.ts';

/** Tab visits each part of a date field. */
const STOPS_LIMIT = 10;

const TOOLS = [
  describeElement, finishTransitions, isRendered, contrastOf, makeColourReader, paintElement,
  paintOver, readCanvasColour, writeRatio, findIndicatorViolation, findStops,
];

/** The focused tab stop, and its violations. */
interface Stop {
  /** -1 if the focus is on none of the stops, such as on a scrolling region. */
  readonly index: number;
  readonly isOutside: boolean;
  readonly name: string;
  readonly violations: readonly string[];
}

declare global {
  interface Window {
    /** State of a walk, kept in the page: the tab stops, and how each looks without focus. */
    walk?: { readonly stops: Element[]; readonly looks: string[] };
  }
}

/** Walks from the top of the page to its end, and removes the focus. */
export async function findKeyboardViolations(browser: Browser): Promise<string[]> {
  const names = await browser.session.run(startWalk, [], TOOLS);
  const violations: string[] = [];
  const visited: number[] = [];
  let stays = 0;
  for (;;) {
    await browser.press('Tab');
    const stop = await browser.session.run(lookAtFocus, [], TOOLS);
    const hasStayed = stop.index === visited.at(-1);
    const isAgain = stop.index >= 0 && visited.includes(stop.index) && !hasStayed;
    if (stop.isOutside || isAgain) break;
    stays = hasStayed ? stays + 1 : 0;
    if (stays > STOPS_LIMIT) {
      violations.push(`Tab does not leave: ${stop.name}`);
      break;
    }
    if (stays === 0) {
      violations.push(...stop.violations);
      visited.push(stop.index);
    }
  }
  await browser.session.run(endWalk, []);
  return [...violations, ...findOrderViolations(visited.filter((index) => index >= 0), names)];
}

function findOrderViolations(visited: readonly number[], names: readonly string[]): string[] {
  const missed = names.filter((_, index) => !visited.includes(index))
    .map((name) => `Tab does not reach: ${name}`);
  const early = visited.flatMap((index, place) => {
    const next = visited[place + 1];
    return next === undefined || next > index ? []
      : [`Tab goes back, from ${names[index]} to ${names[next]}`];
  });
  return [...missed, ...early];
}

/** Runs in the page. Resets the focus, and returns the names of the tab stops. */
function startWalk(): string[] {
  const stops = findStops();
  const lookOf = (element: Element) => {
    const { outline, boxShadow } = getComputedStyle(element);
    return `${outline} ${boxShadow}`;
  };
  // The focused element would be recorded with its focus indicator.
  (document.activeElement as HTMLElement | null)?.blur();
  finishTransitions();
  window.walk = { stops, looks: stops.map(lookOf) };
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  return stops.map(describeElement);
}

/** Runs in the page. The expected tab stops, with one radio button of each group. */
function findStops(): Element[] {
  const isFirstOfGroup = (radio: HTMLInputElement) => {
    const group = [...document.querySelectorAll<HTMLInputElement>('input[type="radio"]')]
      .filter((other) => other.name === radio.name && other.form === radio.form);
    return radio === (group.find((other) => other.checked) ?? group[0]);
  };
  const stops = [...document.querySelectorAll<HTMLElement>('*')].filter((element) =>
    element.tabIndex >= 0 && isRendered(element) && !element.matches(':disabled')
    // The cast: the selector matches radio buttons only.
    && (!element.matches('input[type="radio"]') || isFirstOfGroup(element as HTMLInputElement)));
  // The content of an open popover follows the button that opened it (HTML, section 6.6.3).
  const insideOf = (button: Element) => {
    const popover = document.getElementById(button.getAttribute('popovertarget') ?? '');
    return popover?.matches(':popover-open') ? stops.filter((stop) => popover.contains(stop)) : [];
  };
  const inside = stops.flatMap(insideOf);
  const outside = stops.filter((stop) => !inside.includes(stop));
  return [...new Set(outside.flatMap((stop) => [stop, ...insideOf(stop)]))];
}

/** Runs in the page. */
function lookAtFocus(): Stop {
  const element = document.activeElement;
  if (!element || element === document.body || element === document.documentElement) {
    return { index: -1, isOutside: true, name: '', violations: [] };
  }
  finishTransitions();
  const index = window.walk?.stops.indexOf(element) ?? -1;
  const name = describeElement(element);
  // A region that scrolls may be longer than the view (WCAG 2.2, 2.4.11).
  const rect = element.getBoundingClientRect();
  const [left, top] = [Math.max(rect.left, 0), Math.max(rect.top, 0)];
  const width = Math.min(rect.right, innerWidth) - left;
  const height = Math.min(rect.bottom, innerHeight) - top;
  const points = [[0.5, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]] as const;
  const isCovered = points.every(([x, y]) => {
    const above = document.elementFromPoint(left + width * x, top + height * y);
    // Escape closes a popover that the user has opened over the page.
    return !above || !(element.contains(above) || above.contains(element)
      || above.closest(':popover-open'));
  });
  const before = window.walk?.looks[index] ?? '';
  const indicator = index < 0 ? '' : findIndicatorViolation(element, before);
  // A scrolling region is a tab stop of its own if it contains none.
  const isScrolling = element.scrollHeight > element.clientHeight
    || element.scrollWidth > element.clientWidth;
  const violations = [
    ...(index < 0 && !isScrolling ? [`Tab stops at: ${name}`] : []),
    ...(isCovered ? [`covered or out of view while focused: ${name}`] : []),
    ...(indicator ? [`${indicator}: ${name}`] : []),
  ];
  return { index, isOutside: false, name, violations };
}

/** Runs in the page. `before` is how the element looks without focus. Returns '' if it passes. */
function findIndicatorViolation(element: Element, before: string): string {
  const { outline, boxShadow, outlineStyle, outlineWidth, outlineColor, outlineOffset } =
    getComputedStyle(element);
  const hasOutline = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
  const isChanged = before !== `${outline} ${boxShadow}`;
  if (!isChanged || !(hasOutline || boxShadow !== 'none')) return 'no visible focus indicator';
  // The browser draws an `auto` outline in a contrasting colour, whatever `outline-color` says.
  if (boxShadow !== 'none' || outlineStyle === 'auto') return '';
  const read = makeColourReader();
  const canvas = readCanvasColour(read);
  const isInside = parseFloat(outlineOffset) < 0;
  const below = paintElement((!isInside && element.parentElement) || element, read, canvas);
  const ratio = contrastOf(paintOver(read(outlineColor), below), below);
  return ratio >= 3 ? '' : `focus indicator of ${writeRatio(ratio)}, not 3:1`;
}

/** Runs in the page. */
function endWalk(): void {
  delete window.walk;
  (document.activeElement as HTMLElement | null)?.blur();
  scrollTo(0, 0);
}

/**
 * Walks through a page with the Tab key alone: every control is reached, in the order of the
 * document, with an indicator that is seen, and none is a trap (WCAG 2.2, SC 2.1.1, 2.1.2, 2.4.3,
 * 2.4.7, 2.4.11).
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
  paintOver, readCanvasColour, writeRatio, findIndicatorFault, findStops,
];

/** The focused tab stop, and its fault. */
interface Stop {
  /** -1 where it is on none of the stops, such as a part that scrolls. */
  readonly index: number;
  readonly isOutside: boolean;
  readonly name: string;
  readonly faults: readonly string[];
}

declare global {
  interface Window {
    /** Kept in the page during a walk: its stops, and how each looks without the focus. */
    walk?: { readonly stops: Element[]; readonly looks: string[] };
  }
}

/** Walks from the top of the page to its end, and removes the focus. */
export async function findKeyboardFaults(browser: Browser): Promise<string[]> {
  const names = await browser.session.run(startWalk, [], TOOLS);
  const faults: string[] = [];
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
      faults.push(`Tab does not leave: ${stop.name}`);
      break;
    }
    if (stays === 0) {
      faults.push(...stop.faults);
      visited.push(stop.index);
    }
  }
  await browser.session.run(endWalk, []);
  return [...faults, ...findOrderFaults(visited.filter((index) => index >= 0), names)];
}

function findOrderFaults(visited: readonly number[], names: readonly string[]): string[] {
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
  // The present one would look as it does with the focus.
  (document.activeElement as HTMLElement | null)?.blur();
  finishTransitions();
  window.walk = { stops, looks: stops.map(lookOf) };
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  return stops.map(describeElement);
}

/** Runs in the page. The expected tab stops: of radio buttons, one of each group. */
function findStops(): Element[] {
  const isFirstOfGroup = (radio: HTMLInputElement) => {
    const group = [...document.querySelectorAll<HTMLInputElement>('input[type="radio"]')]
      .filter((other) => other.name === radio.name && other.form === radio.form);
    return radio === (group.find((other) => other.checked) ?? group[0]);
  };
  const stops = [...document.querySelectorAll<HTMLElement>('*')].filter((element) =>
    element.tabIndex >= 0 && isRendered(element) && !element.matches(':disabled')
    // That it is a radio button is what the selector says.
    && (!element.matches('input[type="radio"]') || isFirstOfGroup(element as HTMLInputElement)));
  // What is in an open popover comes behind the button that opened it (HTML, section 6.6.3).
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
    return { index: -1, isOutside: true, name: '', faults: [] };
  }
  finishTransitions();
  const index = window.walk?.stops.indexOf(element) ?? -1;
  const name = describeElement(element);
  const { left, top, width, height } = element.getBoundingClientRect();
  const points = [[0.5, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]] as const;
  const isCovered = points.every(([x, y]) => {
    const above = document.elementFromPoint(left + width * x, top + height * y);
    // What a person has opened over the page, Escape takes away.
    return !above || !(element.contains(above) || above.contains(element)
      || above.closest(':popover-open'));
  });
  const indicator = index < 0 ? '' : findIndicatorFault(element, window.walk?.looks[index] ?? '');
  // A part that scrolls is a stop by itself where nothing in it is one.
  const isScrolling = element.scrollHeight > element.clientHeight
    || element.scrollWidth > element.clientWidth;
  const faults = [
    ...(index < 0 && !isScrolling ? [`Tab stops at: ${name}`] : []),
    ...(isCovered ? [`covered or out of view with the focus: ${name}`] : []),
    ...(indicator ? [`${indicator}: ${name}`] : []),
  ];
  return { index, isOutside: false, name, faults };
}

/** Runs in the page. `before` is its look without the focus. Returns '' without a fault. */
function findIndicatorFault(element: Element, before: string): string {
  const { outline, boxShadow, outlineStyle, outlineWidth, outlineColor, outlineOffset } =
    getComputedStyle(element);
  const hasOutline = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
  const isChanged = before !== `${outline} ${boxShadow}`;
  if (!isChanged || !(hasOutline || boxShadow !== 'none')) return 'no sign of the focus';
  // The automatic outline is the browser's own: it contrasts, whatever `outline-color` says.
  if (boxShadow !== 'none' || outlineStyle === 'auto') return '';
  const read = makeColourReader();
  const canvas = readCanvasColour(read);
  const isInside = parseFloat(outlineOffset) < 0;
  const below = paintElement((!isInside && element.parentElement) || element, read, canvas);
  const ratio = contrastOf(paintOver(read(outlineColor), below), below);
  return ratio >= 3 ? '' : `sign of the focus of ${writeRatio(ratio)}, not 3:1`;
}

/** Runs in the page. */
function endWalk(): void {
  delete window.walk;
  (document.activeElement as HTMLElement | null)?.blur();
  scrollTo(0, 0);
}

/**
 * Accessibility of the current page, as far as a machine can check it: the requirements of WCAG 2.2
 * AA on names, structure, contrast, sizes and the keyboard. A page without violations may still be
 * hard to use.
 */
import type { Browser } from './browser.ts';
import { findKeyboardViolations } from './keyboard.ts';
import {
  contrastOf, makeColourReader, paintElement, paintOver, readCanvasColour, writeRatio,
} from './rules/colour.ts';
import { findFaintFields, findFaintTexts, findInks, hasImageBehind } from './rules/contrast.ts';
import {
  describeElement, findExposed, finishTransitions, isExposed, isRendered, isVisible,
} from './rules/element.ts';
import { findHorizontalScrolling, findSmallTargets, isCutOff } from './rules/layout.ts';
import {
  findTableViolations, findUnnamedActions, findUnnamedControls, findUnnamedGroups,
  findUnnamedImages,
} from './rules/names.ts';
import {
  findAutocompleteViolations, findDocumentViolations, findHeadingViolations, findLandmarkViolations,
  findOwnTabOrder, findReferenceViolations,
} from './rules/structure.ts';

/** The source of `findPageViolations` and everything that it calls, as sent to the page. */
const TOOLS = [
  describeElement, findExposed, finishTransitions, isExposed, isRendered, isVisible,
  contrastOf, makeColourReader, paintElement, paintOver, readCanvasColour, writeRatio,
  findDocumentViolations, findOwnTabOrder, findHeadingViolations, findLandmarkViolations,
  findReferenceViolations, findAutocompleteViolations, findUnnamedControls, findUnnamedGroups,
  findUnnamedImages, findUnnamedActions, findTableViolations, findInks, hasImageBehind,
  findFaintTexts, findFaintFields, findSmallTargets, findHorizontalScrolling, isCutOff,
];

const WIDTHS_PX = [320, 1280] as const;

export interface AccessibilityOptions {
  /** False for pages without navigation, such as the sign-in page. */
  readonly hasNavigation?: boolean;
}

/** The violations of the current page, in its current colors and viewport. */
export async function findViolations(
  browser: Browser, options: AccessibilityOptions = {},
): Promise<string[]> {
  const found = await findStaticViolations(browser, options);
  return [...found, ...await findKeyboardViolations(browser)];
}

/** The same in light and dark, at 320 px and on a desktop; restores the light desktop. */
export async function findViolationsInAllViews(
  browser: Browser, options: AccessibilityOptions = {},
): Promise<string[]> {
  const violations: string[] = [];
  for (const dark of [true, false]) {
    await browser.setDark(dark);
    for (const width of WIDTHS_PX) {
      await browser.setViewport(width, 800);
      // The keyboard walk is the slowest check, and its violations depend on either the colours or
      // the width, so it runs in two of the four views, which cover both schemes and both widths.
      const isWalked = dark === (width === WIDTHS_PX[0]);
      const found = await (isWalked ? findViolations : findStaticViolations)(browser, options);
      const view = `${dark ? 'dark' : 'light'}, ${width} px`;
      violations.push(...found.map((violation) => `${view}: ${violation}`));
    }
  }
  return violations;
}

function findStaticViolations(
  browser: Browser, { hasNavigation = true }: AccessibilityOptions,
): Promise<string[]> {
  return browser.session.run(findPageViolations, [hasNavigation], TOOLS);
}

/** Runs in the page. */
function findPageViolations(hasNavigation: boolean): string[] {
  finishTransitions();
  return [
    ...findDocumentViolations(),
    ...findHeadingViolations(),
    ...findLandmarkViolations(hasNavigation),
    ...findReferenceViolations(),
    ...findOwnTabOrder(),
    ...findAutocompleteViolations(),
    ...findUnnamedControls(),
    ...findUnnamedGroups(),
    ...findUnnamedImages(),
    ...findUnnamedActions(),
    ...findTableViolations(),
    ...findFaintTexts(),
    ...findFaintFields(),
    ...findSmallTargets(),
    ...findHorizontalScrolling(),
  ];
}

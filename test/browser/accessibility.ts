/**
 * Accessibility of the current page, as far as a machine can check it: the requirements of WCAG 2.2
 * AA on names, structure, contrast, sizes and the keyboard. A page without faults may still be hard
 * to use.
 */
import type { Browser } from './browser.ts';
import { findKeyboardFaults } from './keyboard.ts';
import {
  contrastOf, makeColourReader, paintElement, paintOver, readCanvasColour, writeRatio,
} from './rules/colour.ts';
import { findFaintFields, findFaintTexts, findInks, hasPictureBehind } from './rules/contrast.ts';
import {
  describeElement, findExposed, finishTransitions, isExposed, isRendered, isSeen,
} from './rules/element.ts';
import { findSidewaysScrolling, findSmallTargets, isCutOff } from './rules/layout.ts';
import {
  findTableFaults, findUnnamedActions, findUnnamedControls, findUnnamedGroups, findUnnamedImages,
} from './rules/names.ts';
import {
  findAutocompleteFaults, findDocumentFaults, findHeadingFaults, findLandmarkFaults,
  findOwnTabOrder, findReferenceFaults,
} from './rules/structure.ts';

/** The source of `findPageFaults` and everything that it calls, as sent to the page. */
const TOOLS = [
  describeElement, findExposed, finishTransitions, isExposed, isRendered, isSeen,
  contrastOf, makeColourReader, paintElement, paintOver, readCanvasColour, writeRatio,
  findDocumentFaults, findOwnTabOrder, findHeadingFaults, findLandmarkFaults, findReferenceFaults,
  findAutocompleteFaults, findUnnamedControls, findUnnamedGroups, findUnnamedImages,
  findUnnamedActions, findTableFaults, findInks, hasPictureBehind, findFaintTexts, findFaintFields,
  findSmallTargets, findSidewaysScrolling, isCutOff,
];

const WIDTHS_PX = [320, 1280] as const;

export interface AccessibilityOptions {
  /** False for a page that leads nowhere yet, such as the one to sign in on. */
  readonly hasNavigation?: boolean;
}

/** The faults of the current page, in its current colors and viewport. */
export async function findFaults(
  browser: Browser, options: AccessibilityOptions = {},
): Promise<string[]> {
  return [...await findSeenFaults(browser, options), ...await findKeyboardFaults(browser)];
}

/** The same in light and dark, at 320 px and on a desktop; restores the light desktop. */
export async function findFaultsInAllViews(
  browser: Browser, options: AccessibilityOptions = {},
): Promise<string[]> {
  const faults: string[] = [];
  for (const dark of [true, false]) {
    await browser.setDark(dark);
    for (const width of WIDTHS_PX) {
      await browser.setViewport(width, 800);
      // What is wrong with the focus hangs on the colours or on the width: the walk takes the most
      // time, and each of both comes by once.
      const isWalked = dark === (width === WIDTHS_PX[0]);
      const found = await (isWalked ? findFaults : findSeenFaults)(browser, options);
      faults.push(...found.map((fault) => `${dark ? 'dark' : 'light'}, ${width} px: ${fault}`));
    }
  }
  return faults;
}

function findSeenFaults(
  browser: Browser, { hasNavigation = true }: AccessibilityOptions,
): Promise<string[]> {
  return browser.session.run(findPageFaults, [hasNavigation], TOOLS);
}

/** Runs in the page. */
function findPageFaults(hasNavigation: boolean): string[] {
  finishTransitions();
  return [
    ...findDocumentFaults(),
    ...findHeadingFaults(),
    ...findLandmarkFaults(hasNavigation),
    ...findReferenceFaults(),
    ...findOwnTabOrder(),
    ...findAutocompleteFaults(),
    ...findUnnamedControls(),
    ...findUnnamedGroups(),
    ...findUnnamedImages(),
    ...findUnnamedActions(),
    ...findTableFaults(),
    ...findFaintTexts(),
    ...findFaintFields(),
    ...findSmallTargets(),
    ...findSidewaysScrolling(),
  ];
}

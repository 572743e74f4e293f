/** Structure rules: language, headings, landmarks, ids and references. */
import { describeElement, findExposed } from './element.ts';

/** The page has a language and a title, can be zoomed, and does not refresh itself. */
export function findDocumentViolations(): string[] {
  const violations: string[] = [];
  const { lang } = document.documentElement;
  // SC 3.1.1.
  const isLanguage = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/.test(lang);
  if (!isLanguage) violations.push(`no language: lang="${lang}"`);
  // SC 2.4.2.
  if (!/\S/.test(document.title)) violations.push('no title');
  // SC 1.4.4 and 1.4.10: without it a phone shows a shrunken desktop page.
  const viewport = document.querySelector('meta[name="viewport"]')?.getAttribute('content') ?? '';
  if (!viewport.includes('width=device-width')) violations.push('no device-width viewport');
  if (/user-scalable|maximum-scale/.test(viewport)) violations.push('zooming is restricted');
  // SC 2.2.1 and 3.2.5.
  if (document.querySelector('meta[http-equiv="refresh"]')) violations.push('refreshes itself');
  return violations;
}

/** One first-level heading, which comes first, and no skipped levels (SC 1.3.1, 2.4.6). */
export function findHeadingViolations(): string[] {
  const headings = findExposed('h1, h2, h3, h4, h5, h6, [role="heading"]');
  const levelOf = (heading: Element) =>
    Number(heading.getAttribute('aria-level') ?? heading.localName.slice(1));
  const first = headings.filter((heading) => levelOf(heading) === 1).length;
  const skipped = headings.filter((heading, index) => {
    const before = headings[index - 1];
    return levelOf(heading) > (before ? levelOf(before) : 0) + 1;
  });
  return [
    ...(first === 1 ? [] : [`${first} first-level headings`]),
    ...skipped.map((heading) => `heading skips a level: ${describeElement(heading)}`),
    ...headings.filter((heading) => heading.computedName.trim() === '')
      .map((heading) => `empty heading: ${describeElement(heading)}`),
  ];
}

/**
 * A header, one main element and navigation, each with a name if there are several. Navigation may
 * be a popover that a button opens; its content is checked while it is open.
 */
export function findLandmarkViolations(hasNavigation: boolean): string[] {
  // Only what can have these roles, and each once: `computedRole` takes about a millisecond.
  const landmarks = findExposed('header, nav, main, [role~="banner"], [role~="navigation"], '
    + '[role~="main"]').map((element) => ({ element, role: element.computedRole }));
  const among = (wanted: string) =>
    landmarks.filter(({ role }) => role === wanted).map(({ element }) => element);
  const navigation = among('navigation');
  const names = navigation.map((element) => element.computedName);
  const isOpened = (element: Element) =>
    findExposed(`[popovertarget="${element.closest('[popover]')?.id}"]`).length > 0;
  const hasMenu = navigation.length > 0 || [...document.querySelectorAll('nav')].some(isOpened);
  // By attributes: `computedName` is slow, and an API page has dozens of regions.
  const regions = findExposed('section[aria-label], section[aria-labelledby], [role="region"]')
    .map((element) => ({
      element,
      name: element.getAttribute('aria-label')
        ?? document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent,
    }));
  const isRepeated = (one: typeof regions[number]) =>
    regions.some((other) => other !== one && other.name === one.name);
  const isUnclear = (name: string) => name === '' || names.indexOf(name) < names.lastIndexOf(name);
  return [
    ...(among('main').length === 1 ? [] : [`${among('main').length} main landmarks`]),
    ...(among('banner').length === 1 ? [] : [`${among('banner').length} header landmarks`]),
    ...(hasNavigation && !hasMenu ? ['no navigation landmark'] : []),
    ...navigation.filter((element) => navigation.length > 1 && isUnclear(element.computedName))
      .map((element) => `one of several navigations without a name: ${describeElement(element)}`),
    ...regions.filter(isRepeated)
      .map(({ element }) => `one of several regions with this name: ${describeElement(element)}`),
  ];
}

/** Ids are unique, and references resolve. */
export function findReferenceViolations(): string[] {
  const attributes = ['for', 'form', 'list', 'headers', 'popovertarget', 'commandfor',
    'aria-labelledby', 'aria-describedby', 'aria-details', 'aria-controls', 'aria-owns',
    'aria-flowto', 'aria-errormessage', 'aria-activedescendant'];
  const elements = [...document.querySelectorAll('[id]')];
  const ids = elements.map(({ id }) => id);
  const repeated = elements.filter(({ id }, index) => ids.indexOf(id) < index)
    .map((element) => `duplicate id: ${describeElement(element)}`);
  const broken = attributes.flatMap((attribute) =>
    [...document.querySelectorAll(`[${attribute}]`)].flatMap((element) =>
      (element.getAttribute(attribute) ?? '').split(/\s+/).filter((id) => !ids.includes(id))
        .map((id) => `${attribute}="${id}" refers to no element: ${describeElement(element)}`)));
  const links = [...document.querySelectorAll('a[href^="#"]')]
    .filter((link) => !['top', ...ids].includes(link.getAttribute('href')?.slice(1) ?? ''))
    .map((link) => `link to a missing id: ${describeElement(link)}`);
  return [...repeated, ...broken, ...links];
}

/** The tab order is the document order (SC 2.4.3). */
export function findOwnTabOrder(): string[] {
  return [...document.querySelectorAll<HTMLElement>('[tabindex]')]
    .filter((element) => element.tabIndex > 0)
    .map((element) => `tabindex above 0: ${describeElement(element)}`);
}

/** Fields that browsers and password managers can fill in have `autocomplete` (SC 1.3.5, 3.3.8). */
export function findAutocompleteViolations(): string[] {
  const code = /^(?:code|otp|totp|one[-_]?time[-_]?code)$/i;
  return findExposed('input').flatMap((field) => {
    const type = field.getAttribute('type');
    const wanted = type === 'email' ? ['email', 'username', 'off']
      : type === 'password' ? ['current-password', 'new-password']
      : code.test(field.getAttribute('name') ?? '') ? ['one-time-code']
      : undefined;
    const tokens = (field.getAttribute('autocomplete') ?? '').split(/\s+/);
    if (!wanted || wanted.some((token) => tokens.includes(token))) return [];
    return [`no autocomplete="${wanted.join('|')}": ${describeElement(field)}`];
  });
}

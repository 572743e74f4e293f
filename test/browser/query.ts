/**
 * Queries for elements: by CSS, or as users perceive them, by role, label or text. Roles and names
 * are the browser's own computation (ARIA 1.2, accname 1.2), which assistive technology gets too.
 */

/** A text to equal after white space is collapsed, or a pattern to find. */
export type TextMatch = string | RegExp;

export type Query =
  | { readonly by: 'css'; readonly selector: string }
  | { readonly by: 'role'; readonly role: string; readonly name?: TextMatch | undefined }
  | { readonly by: 'label' | 'text'; readonly text: TextMatch };

/** A query as sent to the page, with the source of its pattern. */
export interface PageQuery {
  readonly by: Query['by'];
  readonly selector: string;
  /** '' for a query that is not by role. */
  readonly role: string;
  readonly pattern: string;
  readonly flags: string;
}

/** What can have a role; `computedRole` takes about a millisecond, so others are not asked. */
const CANDIDATES: Readonly<Record<string, string>> = {
  button: 'button, input, summary, [role~="button"]',
  link: 'a, area, [role~="link"]',
};
const LABELLED = 'input, select, textarea, output, meter, progress, fieldset';

declare global {
  interface Element {
    /** The browser shows both to the pages of these tests, see `openBrowser`. */
    readonly computedRole: string;
    readonly computedName: string;
  }
}

/** Describes a query for error messages. */
export function describeQuery(query: Query): string {
  if (query.by === 'css') return query.selector;
  if (query.by === 'role') return `the ${query.role} named ${query.name ?? 'anything'}`;
  return `the ${query.by} ${query.text}`;
}

export function toPageQuery(query: Query): PageQuery {
  if (query.by === 'css') {
    return { by: 'css', selector: query.selector, role: '', pattern: '', flags: '' };
  }
  const text = query.by === 'role' ? query.name ?? /(?:)/ : query.text;
  const { source, flags } = text instanceof RegExp
    ? text
    : new RegExp(`^${RegExp.escape(text)}$`);
  const selectors = { label: LABELLED, text: 'body *' };
  const [role, selector] = query.by === 'role'
    ? [query.role, CANDIDATES[query.role] ?? '*'] : ['', selectors[query.by]];
  return { by: query.by, selector, role, pattern: source, flags };
}

/** Runs in the page. The matching elements, below `root` or anywhere, in document order. */
export function findInPage(
  root: Element | null, { by, selector, role, pattern, flags }: PageQuery,
): Element[] {
  const wanted = new RegExp(pattern, flags);
  const matches = (text: string | null) => wanted.test((text ?? '').replace(/\s+/g, ' ').trim());
  const among = [...(root ?? document).querySelectorAll(selector)];
  switch (by) {
    case 'css': return among;
    // Hidden elements have a role too.
    case 'role': return among.filter((element) =>
      element.checkVisibility({ visibilityProperty: true })
      && !element.closest('[aria-hidden="true"], [inert]')
      && element.computedRole === role && matches(element.computedName));
    // The computed name of a file input contains the chosen file, so its labels are read too.
    case 'label': return among.filter((element) => matches(element.computedName)
      || [...(element as HTMLInputElement).labels ?? []].some((label) =>
        matches(label.textContent)));
    case 'text': return among.filter((element) => matches(element.textContent)
      && element.checkVisibility() && ![...element.children].some((child) =>
        matches(child.textContent) && child.checkVisibility()));
  }
}

/**
 * How tests name elements: by CSS, or as a user meets them, by role, label or text. Roles and names
 * are the browser's own computation (ARIA 1.2, accname 1.2), which assistive technology gets too.
 */

/** A text that is equal after white space is collapsed, or one that a pattern is found in. */
export type TextMatch = string | RegExp;

export type Query =
  | { readonly by: 'css'; readonly selector: string }
  | { readonly by: 'role'; readonly role: string; readonly name?: TextMatch | undefined }
  | { readonly by: 'label' | 'text'; readonly text: TextMatch };

/** A query as it is sent to the page: a pattern is no JSON, its source is. */
export interface PageQuery {
  readonly by: Query['by'];
  readonly selector: string;
  readonly pattern: string;
  readonly flags: string;
}

const LABELLED = 'input, select, textarea, output, meter, progress, fieldset';

declare global {
  interface Element {
    /** The browser shows both to the pages of these tests, see `openBrowser`. */
    readonly computedRole: string;
    readonly computedName: string;
  }
}

/** Says a query in the words of a test. */
export function describeQuery(query: Query): string {
  if (query.by === 'css') return query.selector;
  if (query.by === 'role') return `the ${query.role} named ${query.name ?? 'anything'}`;
  return `the ${query.by} ${query.text}`;
}

export function toPageQuery(query: Query): PageQuery {
  if (query.by === 'css') {
    return { by: 'css', selector: query.selector, pattern: '', flags: '' };
  }
  const text = query.by === 'role' ? query.name ?? /(?:)/ : query.text;
  const { source, flags } = text instanceof RegExp
    ? text
    : new RegExp(`^${RegExp.escape(text)}$`);
  const selectors = { role: '*', label: LABELLED, text: 'body *' };
  const selector = query.by === 'role' ? query.role : selectors[query.by];
  return { by: query.by, selector, pattern: source, flags };
}

/** Runs in the page. The elements that a query names, below `root` or anywhere, in order. */
export function findInPage(
  root: Element | null, { by, selector, pattern, flags }: PageQuery,
): Element[] {
  const wanted = new RegExp(pattern, flags);
  const matches = (text: string | null) => wanted.test((text ?? '').replace(/\s+/g, ' ').trim());
  const among = [...(root ?? document).querySelectorAll(by === 'role' ? '*' : selector)];
  switch (by) {
    case 'css': return among;
    // Also what is hidden has a role.
    case 'role': return among.filter((element) => element.computedRole === selector
      && matches(element.computedName) && element.checkVisibility({ visibilityProperty: true })
      && !element.closest('[aria-hidden="true"], [inert]'));
    // The computed name of a file input has the chosen file in it, so its labels are read too.
    case 'label': return among.filter((element) => matches(element.computedName)
      || [...(element as HTMLInputElement).labels ?? []].some((label) =>
        matches(label.textContent)));
    case 'text': return among.filter((element) => matches(element.textContent)
      && element.checkVisibility() && ![...element.children].some((child) =>
        matches(child.textContent) && child.checkVisibility()));
  }
}

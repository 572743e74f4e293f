/**
 * The theme of the pages: the system's, light or dark. A cookie keeps it, so it belongs to the
 * browser, pages before the sign-in have it too, and no page flashes in the wrong colors.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { CSRF_FIELD } from '../forms/csrf.ts';
import { hiddenField } from '../forms/form.ts';
import type { AnonymousPageRequest } from '../route.ts';
import { readCookie } from '../sign-in/cookie.ts';
import { html, type Html } from './html.ts';

export const THEME_COOKIE = 'theme';
export const THEMES = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

/** The switch repeats the page's query, which it must not double in size. */
const SEARCH_LIMIT_CHARACTERS = 300;

type Theme = (typeof THEMES)[number]['value'];

/** `system` without a valid cookie. */
export function readTheme(headers: IncomingHttpHeaders): Theme {
  const value = readCookie(headers.cookie, THEME_COOKIE);
  return THEMES.find((theme) => theme.value === value)?.value ?? 'system';
}

/** The switch. `back` names the page to return to; `portal.js` changes the theme in place. */
export function renderThemeSwitch(
  { link, headers, csrfToken, path, query }:
  Pick<AnonymousPageRequest, 'link' | 'headers' | 'csrfToken' | 'path' | 'query'>,
): Html {
  const current = readTheme(headers);
  const search = String(query);
  const isKept = search !== '' && search.length <= SEARCH_LIMIT_CHARACTERS;
  return html`<form method="post" action="${link('/theme')}" class="theme" aria-label="Theme">
    ${hiddenField(CSRF_FIELD, csrfToken)}
    ${hiddenField('back', isKept ? `${path}?${search}` : path)}
    ${THEMES.map(({ value, label }) => html`<button class="small" name="theme" value="${value}"
      aria-pressed="${value === current ? 'true' : 'false'}">${label}</button>`)}
  </form>`;
}

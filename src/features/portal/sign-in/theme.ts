/** Switches the theme, also before the sign-in, and returns to the page. */
import { Form } from '../forms/form.ts';
import { redirect } from '../html/page.ts';
import { THEME_COOKIE, THEMES } from '../html/theme.ts';
import { PREFERENCE_LIFE_MS } from '../limits.ts';
import type { AnonymousPageRequest, Submit } from '../route.ts';
import { formatCookie } from './cookie.ts';
import { findPagePath, toPagePath } from './sign-in-pages.ts';

/** POST /portal/theme: 303. An unknown theme is the system's. */
export const switchTheme: Submit<AnonymousPageRequest> = async ({ link }, portal, form) => {
  const [path = '', query] = toPagePath(form.get('back')).split(/\?(.*)/s);
  const theme = THEMES.find(({ value }) => value === form.get('theme'))?.value ?? 'system';
  const cookie = theme === 'system' ? formatCookie(THEME_COOKIE, '', 0)
    : formatCookie(THEME_COOKIE, theme, PREFERENCE_LIFE_MS);
  return redirect(link(findPagePath(portal, path), new Form(query)), [cookie]);
};

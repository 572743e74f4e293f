/** The locale that a browser asks for (RFC 9110, section 12.5.4): the first that `Intl` knows. */
import { parseLocale } from '../../../domain/access/account.ts';
import { ACCEPT_LANGUAGE_LIMIT_CHARACTERS } from '../limits.ts';

const FALLBACK = 'en-GB';

export function readLocale(acceptLanguage: string | undefined): string {
  const tags = (acceptLanguage ?? '').slice(0, ACCEPT_LANGUAGE_LIMIT_CHARACTERS).split(',');
  for (const tag of tags) {
    const [name = ''] = tag.split(';');
    if (!/^\s*[a-z]/i.test(name)) continue;
    const parsed = parseLocale(name.trim());
    if ('value' in parsed) return parsed.value;
  }
  return FALLBACK;
}

/** Pages of the portal that a search finds by their titles and by other words for them. */
import { searchTermsOf } from '../../../domain/catalogue/product-query.ts';
import type { Portal } from '../route.ts';

export interface FoundPage {
  readonly path: string;
  readonly title: string;
}

/** Other words for the sections of the navigation. */
const SECTION_WORDS: Readonly<Record<string, string>> = {
  '/': 'home dashboard totals figures value low sold out charts',
  '/products': 'catalogue catalog items goods articles inventory stock archived export',
  '/import': 'upload download csv ndjson file shopify woocommerce magento stocktake columns',
  '/changes': 'history log feed who changed movements',
  '/reports': 'charts graphs statistics top movers bestsellers value units stock over time export',
  '/keys': 'tokens secrets credentials access permissions scopes last used',
  '/webhooks': 'notifications callbacks url events integrations zapier',
  '/api': 'reference documentation developers curl openapi rest',
  '/activity': 'audit log security sign-ins logins addresses',
  '/people': 'team colleagues users staff roles invite invitations owner editor viewer',
  '/start': 'first steps tour guide onboarding begin',
  '/account': 'profile language locale time zone preferences settings theme dark light appearance',
};

/** Pages that are not in the navigation. */
const OTHER_PAGES: Readonly<Record<string, readonly [title: string, words: string]>> = {
  '/products/new': ['New product', 'create add item'],
  '/products/grid': [
    'Edit stock and price',
    'bulk grid spreadsheet many several prices quantities',
  ],
  '/categories': ['Categories', 'category rename merge groups collections'],
  '/movements': ['Stock movements', 'ledger history export inventory'],
  '/imports': ['Imports', 'records runs uploads stock syncs revert undo'],
  '/keys/new': ['Create API key', 'new token add'],
  '/keys/find': ['Find an API key', 'paste identify which token'],
  '/leaked': ['Leaked API key', 'stolen compromised exposed published revoke emergency token'],
  '/people/new': ['Invite someone', 'add person colleague user account'],
  '/account/name': ['Name', 'rename own profile'],
  '/webhooks/new': ['New webhook', 'create add notification'],
  '/api/problems': ['API problems', 'errors codes rejected status'],
  '/account/shop': ['Shop settings', 'low stock threshold warning'],
  '/account/email': ['E-mail', 'email mail address change sign-in'],
  '/account/password': ['Password', 'change passphrase sign-in'],
  '/account/two-factor': [
    'Two-factor authentication',
    '2fa totp mfa otp authenticator one-time code recovery codes security phone',
  ],
  '/people/two-factor': ['Require two-factor authentication', 'enforce everyone security'],
  '/account/sessions': ['Sessions', 'devices browsers signed in sign out logout'],
  '/account/passkeys': ['Passkeys', 'webauthn fido security fingerprint face sign-in'],
  '/account/passkeys/new': ['Add a passkey', 'new create webauthn fido'],
  '/account/password-sign-in': ['Password sign-in', 'turn on off passwordless disable enable'],
};

/** Pages with a word that begins with each term. Better titles come first. */
export function findPages(
  sections: readonly Pick<Portal['sections'][number], 'path' | 'name'>[], q: string,
): readonly FoundPage[] {
  const terms = searchTermsOf(q).map(({ text }) => text);
  if (terms.length === 0) return [];
  const all = [
    ...sections.map(({ path, name: title }) =>
      ({ path, title, words: SECTION_WORDS[path] ?? '' })),
    ...Object.entries(OTHER_PAGES).map(([path, [title, words]]) => ({ path, title, words })),
  ];
  const isIn = (text: string): boolean => {
    const words = text.toLowerCase().split(/[\s,]+/).flatMap((word) => [word, ...word.split('-')]);
    return terms.every((term) => words.some((word) => word.startsWith(term)));
  };
  const matches = all.filter(({ title, words }) => isIn(`${title} ${words}`));
  return [
    ...matches.filter(({ title }) => isIn(title)), ...matches.filter(({ title }) => !isIn(title)),
  ].map(({ path, title }) => ({ path, title }));
}

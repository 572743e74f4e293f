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
const OTHER_PAGES: readonly (FoundPage & { readonly words: string })[] = [
  { path: '/products/new', title: 'New product', words: 'create add item' },
  {
    path: '/products/grid', title: 'Edit stock and price',
    words: 'bulk grid spreadsheet many several prices quantities',
  },
  { path: '/categories', title: 'Categories', words: 'category rename merge groups collections' },
  { path: '/movements', title: 'Stock movements', words: 'ledger history export inventory' },
  { path: '/imports', title: 'Imports', words: 'records runs uploads stock syncs revert undo' },
  { path: '/keys/new', title: 'Create API key', words: 'new token add' },
  { path: '/keys/find', title: 'Find an API key', words: 'paste identify which token' },
  {
    path: '/leaked', title: 'Leaked API key',
    words: 'stolen compromised exposed published revoke emergency token',
  },
  { path: '/people/new', title: 'Invite someone', words: 'add person colleague user account' },
  { path: '/account/name', title: 'Name', words: 'rename own profile' },
  { path: '/webhooks/new', title: 'New webhook', words: 'create add notification' },
  { path: '/api/problems', title: 'API problems', words: 'errors codes rejected status' },
  { path: '/account/shop', title: 'Shop settings', words: 'low stock threshold warning' },
  { path: '/account/email', title: 'E-mail', words: 'email mail address change sign-in' },
  { path: '/account/password', title: 'Password', words: 'change passphrase sign-in' },
  {
    path: '/account/two-factor', title: 'Two-factor authentication',
    words: '2fa totp mfa otp authenticator one-time code recovery codes security phone',
  },
  {
    path: '/people/two-factor', title: 'Require two-factor authentication',
    words: 'enforce everyone security',
  },
  {
    path: '/account/sessions', title: 'Sessions',
    words: 'devices browsers signed in sign out logout',
  },
  {
    path: '/account/passkeys', title: 'Passkeys',
    words: 'webauthn fido security fingerprint face sign-in',
  },
  {
    path: '/account/passkeys/new', title: 'Add a passkey',
    words: 'new create webauthn fido',
  },
  {
    path: '/account/password-sign-in', title: 'Password sign-in',
    words: 'turn on off passwordless disable enable',
  },
];

/** Pages with a word that begins with each term. Better titles come first. */
export function findPages(
  sections: readonly Pick<Portal['sections'][number], 'path' | 'name'>[], q: string,
): readonly FoundPage[] {
  const terms = searchTermsOf(q).map(({ text }) => text);
  if (terms.length === 0) return [];
  const all = [
    ...sections.map(({ path, name: title }) =>
      ({ path, title, words: SECTION_WORDS[path] ?? '' })),
    ...OTHER_PAGES,
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

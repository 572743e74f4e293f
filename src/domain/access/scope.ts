/** What a key may do. A key holds one or more scopes; a route asks for one. */

export const SCOPES = [
  'products:read',
  'products:write',
  'stock:write',
  'changes:read',
  'webhooks:write',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

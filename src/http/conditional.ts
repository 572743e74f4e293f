/** Entity tags and conditional requests (RFC 9110 sections 8.8.3 and 13). */

/** The strong entity tag of what stands at a position. */
export function formatEntityTag(position: number): string {
  return `"${position}"`;
}

/** Whether `If-None-Match` holds this tag, by weak comparison: then the answer is 304. */
export function isNoneMatch(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag || header.trim() === '*') return true;
  return [...header.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, opaque]) => opaque === tag);
}

/** Tells the callers of a route that it will go (RFC 9745 Deprecation, RFC 8594 Sunset). */

export interface Lifecycle {
  /** Since when it should not be used any more: RFC 3339. */
  readonly deprecatedAt: string;
  /** After this it may answer 404: RFC 3339. */
  readonly sunsetAt?: string;
  /** Where it is said what to use instead. */
  readonly link?: string;
}

/** The fields that say so, in every answer of the route. */
export function formatLifecycleFields(
  { deprecatedAt, sunsetAt, link }: Lifecycle,
): Record<string, string> {
  return {
    deprecation: `@${Math.floor(Date.parse(deprecatedAt) / 1000)}`,
    ...(sunsetAt !== undefined && { sunset: new Date(sunsetAt).toUTCString() }),
    ...(link !== undefined && { link: `<${link}>; rel="deprecation"` }),
  };
}

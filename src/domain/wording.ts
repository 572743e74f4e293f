/**
 * Counts and lists in English messages, as `Intl` would format them. The first use of `Intl` takes
 * 10 ms and 6 MiB, which a server without pages does not need.
 */

/** A whole number such as 1,234,567. */
export function formatCount(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Names such as `name, category and stock`. */
export function joinNames(names: readonly string[]): string {
  const [last = '', ...others] = names.toReversed();
  return others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`;
}

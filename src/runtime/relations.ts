/** Asserts relations between limits, where the limits are used. */

/**
 * @param relations Each relation as text, and whether it holds.
 * @throws Error naming the first relation that does not hold: one limit was changed alone
 */
export function assertRelations(relations: Readonly<Record<string, boolean>>): void {
  for (const [relation, holds] of Object.entries(relations)) {
    if (!holds) throw new Error(`These limits contradict each other: ${relation}.`);
  }
}

/**
 * Reads `accepted.txt`: the mutants that no test can find, each with the reason why it cannot
 * matter. A reason is indented below one mutant, or several.
 */

/** The reason, by the id of the mutant. */
export type Accepted = ReadonlyMap<string, string>;

/** @throws Error for a mutant without a reason, or one that is listed twice */
export function readAccepted(text: string): Accepted {
  const accepted = new Map<string, string>();
  let ids: string[] = [];
  for (const line of text.split('\n').filter((entry) => entry !== '' && !entry.startsWith('#'))) {
    if (line.startsWith(' ')) {
      for (const id of ids) accepted.set(id, `${accepted.get(id) ?? ''} ${line.trim()}`.trim());
    } else {
      if (ids.some((id) => accepted.has(id))) ids = [];
      if (accepted.has(line)) throw new Error(`accepted.txt lists a mutant twice: ${line}`);
      ids.push(line);
    }
  }
  for (const id of ids) if (!accepted.has(id)) throw new Error(`accepted.txt has no reason: ${id}`);
  return accepted;
}

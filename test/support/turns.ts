/** Counts how often the event loop goes round while something is done. */

/** Resolves with the turns between the beginning of `work` and its end. */
export async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const look = (): void => {
    turns += 1;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return turns;
}

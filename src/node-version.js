/**
 * The Node that this program needs. Plain JavaScript without imports, so that a Node too old for
 * the rest can run it and say so.
 */
const { version, versions } = process;
const [major, minor] = versions.node.split('.').map(Number);

/** Why this Node cannot run the program; undefined if it can. */
export const nodeProblem = major > 24 || (major === 24 && minor >= 15) ? undefined
  : `Node 24.15 or newer is needed, and this is ${version}.`;

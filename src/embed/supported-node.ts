/**
 * Throws when it is imported by a Node that is too old. The package's main entry imports it first.
 * The modules after it can be parsed and linked by older releases: they import no module and no
 * name that Node 20 does not have, but take those from `process.getBuiltinModule`.
 */
// @ts-expect-error Plain JavaScript without declarations, as the launcher needs it.
import { nodeProblem } from '../node-version.js';

if (nodeProblem !== undefined) {
  const error = new Error(nodeProblem);
  error.stack = `${error}`; // where it was imported does not matter
  throw error;
}

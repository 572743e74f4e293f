/** Times as text: RFC 3339, UTC, with milliseconds. */

let lastTime = 0;
let lastText = new Date(0).toISOString();

/** `at` is milliseconds since 1970. The last text is kept: what is made together has one time. */
export function formatTime(at: number): string {
  if (at !== lastTime) {
    lastText = new Date(at).toISOString();
    lastTime = at;
  }
  return lastText;
}

/**
 * The field that makes a browser keep an answer as a file (RFC 6266): its name in ASCII, and its
 * exact name (RFC 8187) for those that read that.
 */

/** `name` is no path. */
export function formatAttachment(name: string): string {
  const plain = name.replace(/[^\w. -]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed())
    .replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}

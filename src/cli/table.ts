/** Rows of the same members as columns of text. */

export function formatTable(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => formatCell(row[name])))];
  const widths = names.map((_, column) =>
    cells.reduce((widest, line) => Math.max(widest, line[column]?.length ?? 0), 0));
  const lines = cells.map((line) =>
    line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd());
  return lines.join('\n');
}

function formatCell(value: unknown): string {
  if (value === null) return '-';
  return Array.isArray(value) ? value.join(',') || '-' : String(value);
}

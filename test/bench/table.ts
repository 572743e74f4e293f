/** Prints rows of figures in columns. */

export function printRow(cells: readonly (string | number)[]): void {
  console.log(cells.map((cell) => format(cell).padStart(12)).join(''));
}

export function format(cell: string | number): string {
  return typeof cell === 'string' ? cell : cell >= 100 ? String(Math.round(cell)) : cell.toFixed(2);
}

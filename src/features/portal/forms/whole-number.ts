/** Whole numbers as the addresses and the hidden fields of the portal carry them. */

/** Undefined for any other text, and for what a double does not hold. */
export function findWholeNumber(text: string): number | undefined {
  const number = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

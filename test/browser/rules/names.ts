/** Name rules, for screen readers (WCAG 2.2, SC 1.1.1, 1.3.1, 4.1.2). */
import { describeElement, findExposed } from './element.ts';

/** Every form control has a permanent label: a placeholder disappears, a title is hard to find. */
export function findUnnamedControls(): string[] {
  const selector = 'input, select, textarea, [role="textbox"], [role="combobox"], '
    + '[role="checkbox"], [role="switch"], [role="radio"], [role="slider"], [role="listbox"]';
  const buttons = 'input:is([type="hidden"], [type="submit"], [type="reset"], [type="button"], '
    + '[type="image"])';
  const hasOwnText = (label: Element) => {
    const copy = document.createElement('div');
    copy.append(...[...label.childNodes].map((node) => node.cloneNode(true)));
    for (const control of copy.querySelectorAll('input, select, textarea')) control.remove();
    return /\S/.test(copy.textContent);
  };
  const isNamed = (control: HTMLElement) => {
    const references = control.getAttribute('aria-labelledby')?.split(/\s+/) ?? [];
    const labels = [
      // Controls have `labels`; elements that only have the role of a control do not.
      ...(control as HTMLInputElement).labels ?? [],
      ...references.map((id) => document.getElementById(id)).filter((label) => label !== null),
    ];
    return /\S/.test(control.getAttribute('aria-label') ?? '') || labels.some(hasOwnText);
  };
  return findExposed(selector).filter((control) => !control.matches(buttons) && !isNamed(control))
    .map((control) => `control without a label: ${describeElement(control)}`);
}

/** Groups have names, and radio buttons are in a group. */
export function findUnnamedGroups(): string[] {
  const groups = 'fieldset, [role="group"], [role="radiogroup"]';
  const unnamed = findExposed(groups).filter((group) => group.computedName === '')
    .map((group) => `group without a legend or a name: ${describeElement(group)}`);
  const alone = findExposed('input[type="radio"]').filter((radio) => !radio.closest(groups))
    .map((radio) => `radio button outside a group: ${describeElement(radio)}`);
  return [...unnamed, ...alone];
}

/** Images have alternative text, or are hidden from screen readers. */
export function findUnnamedImages(): string[] {
  const decorations = '[alt=""], [role="none"], [role="presentation"]';
  return findExposed('img, svg, [role="img"]')
    .filter((image) => !image.matches(decorations) && image.computedName === '')
    .map((image) => `image without alternative text: ${describeElement(image)}`);
}

/** Buttons and links have a name. */
export function findUnnamedActions(): string[] {
  const selector = 'button, a[href], summary, input[type="submit"], input[type="button"], '
    + 'input[type="reset"], input[type="image"], [role="button"], [role="link"], [role="tab"], '
    + '[role="menuitem"]';
  return findExposed(selector).filter((action) => action.computedName.trim() === '')
    .map((action) => `button or link without a name: ${describeElement(action)}`);
}

/** Tables have a caption or a name, and scoped headers. */
export function findTableViolations(): string[] {
  const tables = findExposed('table:not([role="none"], [role="presentation"])');
  return tables.flatMap((table) => {
    const headers = [...table.querySelectorAll('th')];
    const name = describeElement(table);
    return [
      ...(table.computedName === '' ? [`table without a caption or a name: ${name}`] : []),
      ...(headers.length === 0 ? [`table without headers: ${name}`] : []),
      ...headers.filter((header) => !header.hasAttribute('scope'))
        .map((header) => `table header without a scope: ${describeElement(header)}`),
    ];
  });
}

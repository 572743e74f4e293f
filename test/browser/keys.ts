/** Names of keys and their WebDriver codes (W3C WebDriver 2, section 17.4.2). */

const KEYS: Readonly<Record<string, string>> = {
  Backspace: '\uE003', Tab: '\uE004', Enter: '\uE007', Shift: '\uE008', Control: '\uE009',
  Alt: '\uE00A', Escape: '\uE00C', Space: ' ', PageUp: '\uE00E', PageDown: '\uE00F', End: '\uE010',
  Home: '\uE011', ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014',
  ArrowDown: '\uE015', Delete: '\uE017',
};

interface KeyAction {
  readonly type: 'keyDown' | 'keyUp';
  readonly value: string;
}

/** The keys of `Shift+Tab` or `a`, to press in order and release in reverse. */
export function parseKeys(keys: string): KeyAction[] {
  const values = keys.split('+').map((name) => {
    const value = KEYS[name] ?? name;
    if ([...value].length !== 1) throw new Error(`No key is named ${name}`);
    return value;
  });
  return [
    ...values.map((value) => ({ type: 'keyDown' as const, value })),
    ...values.reverse().map((value) => ({ type: 'keyUp' as const, value })),
  ];
}

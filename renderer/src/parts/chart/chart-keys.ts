/** Effect of a key in a chart: another selected point, a zoom by a factor, or the end of the zoom. */
type KeyEffect = { readonly index: number } | { readonly factor: number } | 'reset';

/** Returns the effect of a key; undefined for keys that the chart leaves to the page. */
export function findKeyEffect(key: string, { index, last }: { index: number; last: number }): KeyEffect | undefined {
  const page = Math.ceil((last + 1) / 10);
  const select = (target: number): KeyEffect => ({ index: Math.min(last, Math.max(0, target)) });
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return select(index - 1);
    case 'ArrowRight':
    case 'ArrowUp':
      return select(index + 1);
    case 'PageDown':
      return select(index - page);
    case 'PageUp':
      return select(index + page);
    case 'Home':
      return select(0);
    case 'End':
      return select(last);
    case '+':
    case '=':
      return { factor: 0.5 };
    case '-':
      return { factor: 2 };
    case 'Escape':
      return 'reset';
    default:
      return undefined;
  }
}

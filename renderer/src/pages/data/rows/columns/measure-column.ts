/** Room for the padding of a cell, and for the buttons of its header, px. */
const cellPadding = 20;
const headerPadding = 48;

/** Measures the width that the rendered cells of a column need, px. */
export function measureColumn(frame: HTMLElement, column: number): number {
  const cells = frame.querySelectorAll<HTMLElement>(`[data-column="${String(column)}"]`);
  return Math.ceil(
    Math.max(
      ...[...cells].map((cell) => {
        const isHeader = cell.dataset['row'] === '-1';
        const texts = cell.querySelectorAll(isHeader ? 'bdi, .type' : '.text');
        return (isHeader ? headerPadding : cellPadding) + Math.max(0, ...[...texts].map(measureText));
      }),
    ),
  );
}

/** Measures a text that may be cut off by its element. */
function measureText(element: Element): number {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect().width;
}

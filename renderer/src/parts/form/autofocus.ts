/**
 * Focuses a control when its view opens. A dialog selects the element to focus itself, and uses the `autofocus`
 * attribute.
 */
export function autofocus(element: HTMLElement): void {
  element.autofocus = true;
  element.focus({ preventScroll: true });
}
